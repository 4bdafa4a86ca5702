#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/filesystem.hpp>
#include <chrono>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "harness/process/runner.h"

// Runs of mongo that are ended at a random moment, and what they may leave: nothing.

namespace mongo::test {

namespace fs = boost::filesystem;

class KillRounds {
 public:
  /// folder: for all files of the rounds. device: as on the command line.
  KillRounds(std::string program, std::string folder, std::string device, unsigned seed,
             std::string filesystem = "ext4")
      : program_(std::move(program)),
        folder_(std::move(folder)),
        device_(std::move(device)),
        filesystem_(std::move(filesystem)),
        random_(seed),
        others_(helpers()) {
    setenv("MONGO_STATE", (folder_ + "/state").c_str(), 1);
    auto start = std::chrono::steady_clock::now();
    const int status = wait_unless_hung([&] { start = std::chrono::steady_clock::now(); });
    whole_run_ = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start);
    problem_ = status == 0 ? "" : "the run that nobody disturbs ends with " + std::to_string(status);
  }

  ~KillRounds() { unsetenv("MONGO_STATE"); }
  KillRounds(const KillRounds&) = delete;
  KillRounds& operator=(const KillRounds&) = delete;

  /// How many runs were ended by their deadline: zfs-fuse 0.7 leaves a request unanswered now and then.
  int hung() const { return hung_; }

  /// Empty when all was well, else what was not. signals: sent one after another, some milliseconds apart.
  std::string round(const std::vector<int>& signals) {
    if (!problem_.empty()) return problem_;
    const pid_t pid = start_run();
    const auto moment = std::uniform_int_distribution<long>(0, whole_run_.count() * 11 / 10)(random_);
    std::this_thread::sleep_for(std::chrono::microseconds(moment));
    for (std::size_t i = 0; i < signals.size(); ++i) {
      if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
      kill(pid, signals[i]);
    }
    const int status = wait_for(pid);
    const bool killed = signals.front() == SIGKILL;
    const std::string when =
        " (" + std::to_string(moment) + " us after the start, status " + std::to_string(status) + ")";
    // A signal before main has begun ends the program at once; after the work there is nothing to interrupt.
    // Of signals that arrive together the kernel delivers the lowest number first.
    const bool expected = status == 0 ||
                          std::any_of(signals.begin(), signals.end(),
                                      [&](int signal_number) {
                                        return status == -signal_number || (!killed && status == 128 + signal_number);
                                      }) ||
                          has_hung(status);
    if (!expected) return "unexpected status" + when + ": " + slurp(output());
    if (killed) {
      const CommandResult cleanup = RealRunner().run({{program_, "cleanup"}, std::chrono::minutes(2)});
      if (!cleanup.ok()) return "mongo cleanup failed" + when + ": " + cleanup.out + cleanup.err;
    }
    if (const std::string left = what_is_left(pid); !left.empty()) return left + when;
    const int again = wait_unless_hung([] {});
    if (again != 0) return "the next run ended with " + std::to_string(again) + when + ": " + slurp(output());
    return what_is_left(0);
  }

 private:
  std::string point() const { return folder_ + "/mnt"; }
  std::string output() const { return folder_ + "/output"; }

  static std::string slurp(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

  /// Whether the run was ended by the deadline of a phase, which only zfs has here.
  bool has_hung(int status) const {
    return filesystem_ == "zfs" && status == 1 && slurp(output()).find("raise --phase-timeout") != std::string::npos;
  }

  /// Its status, at the first of four times that it does not hang.
  template <typename Before>
  int wait_unless_hung(const Before& before) {
    for (int i = 0;; ++i) {
      before();
      const int status = wait_for(start_run());
      if (!has_hung(status) || i == 3) return status;
      ++hung_;
    }
  }

  pid_t start_run() {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    const int out = open(output().c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    const int null = open("/dev/null", O_RDONLY);
    dup2(null, 0);
    dup2(out, 1);
    dup2(out, 2);
    const std::string results = folder_ + "/results", where = point();
    // --destroy: one that was killed in the middle of mkfs leaves data that nobody recognises.
    execl(program_.c_str(), program_.c_str(), "run", filesystem_.c_str(), device_.c_str(), where.c_str(), "log", "2",
          "--profile", "smoke", "--results", results.c_str(), "--destroy",
          filesystem_ == "zfs" ? "--phase-timeout=10" : static_cast<char*>(nullptr), static_cast<char*>(nullptr));
    _exit(127);
  }

  /// The exit status, or minus the signal; -1000 when it did not end in a minute.
  static int wait_for(pid_t pid) {
    for (int i = 0; i < 6000; ++i) {
      int status = 0;
      if (waitpid(pid, &status, WNOHANG) == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return -1000;
  }

  /// Guests or daemons that this machine runs.
  std::set<std::string> helpers() const {
    const char* program = filesystem_ == "zfs" ? "zfs-fuse\n" : "linux.uml\n";
    std::set<std::string> found;
    for (const auto& process : fs::directory_iterator("/proc")) {
      const std::string name = slurp(process.path().string() + "/comm");
      // One that has ended and that nobody has waited for yet has no memory any more.
      if (name == program && !slurp(process.path().string() + "/cmdline").empty())
        found.insert(process.path().filename().string());
    }
    return found;
  }

  std::string what_is_left(pid_t pid) const {
    for (const std::string& helper : helpers()) {
      if (others_.count(helper) == 0) return "a guest or daemon is left: " + helper;
    }
    for (const auto& process : fs::directory_iterator("/proc")) {
      const std::string name = process.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      const std::string command_line = slurp("/proc/" + name + "/cmdline");
      if (command_line.find(point()) != std::string::npos) return "a process is left: " + name;
      if (slurp("/proc/" + name + "/mountinfo").find(point()) != std::string::npos) return "a mount is left";
    }
    for (const auto& block : fs::directory_iterator("/sys/block")) {
      const std::string backing = slurp(block.path().string() + "/loop/backing_file");
      if (backing.find("/memfd:mongo-" + std::to_string(pid)) != std::string::npos)
        return "a loop device is left: " + backing;
      if (device_.rfind("/dev/", 0) != 0 && backing.find(folder_) != std::string::npos)
        return "a loop device is left: " + backing;
    }
    if (fs::exists(point())) return "the mount point is left";
    if (fs::exists(folder_ + "/state")) return "the state folder is left";
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename().string();
      if (name != "results" && name != "output" && name.rfind("disk", 0) != 0) return "a file is left: " + name;
    }
    return "";
  }

  std::string program_, folder_, device_, filesystem_, problem_;
  std::mt19937 random_;
  std::set<std::string> others_;
  std::chrono::microseconds whole_run_{0};
  int hung_ = 0;
};

}  // namespace mongo::test
