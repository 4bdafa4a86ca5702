#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

// Work in child processes, piece by piece, so that the piece that crashes or hangs is known and the others are done.

namespace mongo::test {

/// What was wrong with a piece.
struct PieceProblem {
  std::uint32_t index;
  std::string text;
};

class WatchedBatch {
 public:
  /// Returns what was wrong with the piece, or nothing.
  using Piece = std::function<std::string(std::uint32_t index)>;

  /// prepare: called once in each child. limit: for one piece.
  WatchedBatch(std::function<void()> prepare, Piece piece, std::chrono::seconds limit)
      : prepare_(std::move(prepare)), piece_(std::move(piece)), limit_(limit) {
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared_ = new (memory) Shared;
    report_ = memfd_create("report", MFD_CLOEXEC);
  }
  ~WatchedBatch() {
    munmap(shared_, sizeof(Shared));
    close(report_);
  }
  WatchedBatch(const WatchedBatch&) = delete;
  WatchedBatch& operator=(const WatchedBatch&) = delete;

  std::vector<PieceProblem> run(const std::vector<std::uint32_t>& indices) {
    std::vector<PieceProblem> problems;
    for (std::size_t next = 0; next < indices.size();) {
      const pid_t pid = fork();
      if (pid == 0) work(indices, next);
      shared_->done = next;
      const std::string end = wait_for(pid);
      const std::size_t done = shared_->done;
      if (!end.empty()) problems.push_back({indices[std::min(done, indices.size() - 1)], end});
      next = end.empty() ? done : done + 1;
    }
    std::string reported(static_cast<std::size_t>(lseek(report_, 0, SEEK_END)), '\0');
    if (pread(report_, reported.data(), reported.size(), 0) < 0) reported.clear();
    for (std::size_t at = 0; at < reported.size();) {
      // "index size text"
      std::size_t read = 0;
      const auto index = static_cast<std::uint32_t>(std::stoul(reported.substr(at, 11), &read));
      at += 11;
      const std::size_t size = std::stoul(reported.substr(at, 11));
      at += 11;
      problems.push_back({index, reported.substr(at, size)});
      at += size;
    }
    return problems;
  }

 private:
  struct Shared {
    std::atomic<std::size_t> done{0};
    std::atomic<std::int64_t> since{0};  // milliseconds; when the piece now at work was begun
  };
  static constexpr std::size_t pieces_a_child = 500;

  static std::int64_t now() {
    using namespace std::chrono;
    return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
  }

  [[noreturn]] void work(const std::vector<std::uint32_t>& indices, std::size_t next) {
    const std::size_t end = std::min(next + pieces_a_child, indices.size());
    shared_->since = now();
    prepare_();
    for (; next < end; ++next) {
      shared_->since = now();
      const std::string problem = piece_(indices[next]);
      if (!problem.empty()) {
        char head[32];
        const int size = snprintf(head, sizeof head, "%10u %10zu ", indices[next], problem.size());
        const std::string line = std::string(head, static_cast<std::size_t>(size)) + problem;
        if (write(report_, line.data(), line.size()) < 0) _exit(3);
      }
      shared_->done = next + 1;
    }
    _exit(0);
  }

  /// Nothing when the child did its work, else how it ended.
  std::string wait_for(pid_t pid) {
    shared_->since = now();
    while (true) {
      int status = 0;
      if (waitpid(pid, &status, WNOHANG) == pid) {
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
        return WIFSIGNALED(status) ? "crashed with signal " + std::to_string(WTERMSIG(status))
                                   : "ended the process with status " + std::to_string(WEXITSTATUS(status));
      }
      if (now() - shared_->since > std::chrono::milliseconds(limit_).count()) {
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
        return "did not end in " + std::to_string(limit_.count()) + " s";
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  std::function<void()> prepare_;
  Piece piece_;
  std::chrono::seconds limit_;
  Shared* shared_;
  int report_;
};

}  // namespace mongo::test
