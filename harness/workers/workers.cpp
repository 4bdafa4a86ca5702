#include "harness/workers/workers.h"

#include <fmt/format.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <new>
#include <stdexcept>

#include "harness/core/errors.h"
#include "phases/support/content.h"

namespace mongo {
namespace {

using Clock = std::chrono::steady_clock;

/// What one process tells. Lies in shared memory, on cache lines of its own.
struct alignas(128) Slot {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;  // 0: not ended
  rusage before{};
  rusage after{};
  phases::Counters counters;
};

/// The barrier. Both words are futexes (futex(2)).
struct alignas(128) Barrier {
  std::atomic<std::uint32_t> ready{0};
  std::atomic<std::uint32_t> open{0};
};

std::int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::chrono::milliseconds timeout) {
  timespec time{};
  time.tv_sec = timeout.count() / 1000;
  time.tv_nsec = timeout.count() % 1000 * 1'000'000;
  // Every answer (woken, value changed, timed out, interrupted) means: look again.
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, &time, nullptr, 0);
}

void futex_wake_all(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// Shared memory for the barrier and the slots.
class SharedPages {
 public:
  explicit SharedPages(std::size_t processes) : size_(sizeof(Barrier) + processes * sizeof(Slot)) {
    // MAP_POPULATE: no page fault of ours falls into the timed part.
    memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory_ == MAP_FAILED) throw RunError("workers", "no shared memory: " + errno_text(errno));
    barrier_ = new (memory_) Barrier;
    slots_ = reinterpret_cast<Slot*>(static_cast<char*>(memory_) + sizeof(Barrier));
    for (std::size_t i = 0; i < processes; ++i) new (slots_ + i) Slot;
  }
  ~SharedPages() { munmap(memory_, size_); }
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;
  Barrier& barrier() { return *barrier_; }
  Slot& slot(std::size_t i) { return slots_[i]; }

 private:
  std::size_t size_;
  void* memory_;
  Barrier* barrier_;
  Slot* slots_;
};

/// Memory for the latencies of all processes, or none. Pages come when they are used: most operations do not occur in a
/// phase.
class LatencyPages {
 public:
  LatencyPages(std::size_t processes, bool wanted) : size_(wanted ? processes * sizeof(phases::Latencies) : 0) {
    if (size_ == 0) return;
    memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory_ == MAP_FAILED) throw RunError("workers", "no shared memory for latencies: " + errno_text(errno));
  }
  ~LatencyPages() {
    if (size_ > 0) munmap(memory_, size_);
  }
  LatencyPages(const LatencyPages&) = delete;
  LatencyPages& operator=(const LatencyPages&) = delete;
  /// Zeroed memory is an empty histogram.
  phases::Latencies* of(std::size_t process) {
    return size_ == 0 ? nullptr : static_cast<phases::Latencies*>(memory_) + process;
  }

 private:
  std::size_t size_;
  void* memory_ = nullptr;
};

/// What the pieces of the content are made for. A comparison takes larger ones than the phase wrote: the bytes are the
/// same.
std::size_t content_buffer_size(const RepetitionRequest& request) {
  constexpr std::size_t for_comparison = 65537;
  return request.verify ? std::max(request.write_buffer_size, for_comparison) : request.write_buffer_size;
}

/// "0.5", "86400"
std::string seconds_text(std::chrono::milliseconds time) {
  std::string text = fmt::format("{}.{:03}", time.count() / 1000, time.count() % 1000);
  text.resize(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

/// The life of one process. Never returns.
[[noreturn]] void be_worker(const RepetitionRequest& request, int process, pid_t parent, Barrier& barrier, Slot& slot,
                            phases::Latencies* latencies) {
  try {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    setpgid(0, 0);  // Ctrl-C reaches the harness, which then ends the processes
    InterruptWatch::restore_defaults();
    std::signal(SIGXFSZ, SIG_IGN);  // a file size limit is an error of a write, and counted

    umask(022);  // the modes of what is made must not depend on who calls

    phases::Content content(request.content, request.content_seed, request.repetition, process,
                            content_buffer_size(request));
    phases::Context context;
    context.mount_fd = request.mount_fd;
    context.mount_path = request.mount_path;
    context.repetition = request.repetition;
    context.process = process;
    context.tree = request.tree;
    context.write_buffer_size = request.write_buffer_size;
    context.sync_each = request.sync_each;
    context.content = &content;
    context.counters = &slot.counters;
    if (latencies != nullptr) latencies->tick_scale = request.tick_scale;
    context.latencies = latencies;
    if (fchdir(request.mount_fd) != 0) {
      slot.counters.count_error(phases::Operation::change_directory, errno, "", ".");
      _exit(2);
    }

    barrier.ready.fetch_add(1);
    futex_wake_all(barrier.ready);
    while (barrier.open.load(std::memory_order_acquire) == 0) futex_wait(barrier.open, 0, std::chrono::seconds(1));

    getrusage(RUSAGE_SELF, &slot.before);
    slot.start_ns = now_ns();
    (request.verify ? request.phase->verify : request.phase->run)(context);
    slot.end_ns = now_ns();
    getrusage(RUSAGE_SELF, &slot.after);
    _exit(0);
  } catch (...) {
    _exit(3);  // out of memory before the barrier, or a broken phase; the parent reports it
  }
}

/// The processes of one repetition; those that are left are killed and reaped on every way out.
class Processes {
 public:
  ~Processes() { kill_all(); }
  Processes() = default;
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  void add(pid_t pid) {
    const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    entries_.push_back({pid, descriptor});
    if (descriptor < 0) {
      const bool too_many = errno == EMFILE;
      throw RunError("workers", "pidfd_open: " + errno_text(errno) +
                                    (too_many ? ": raise the limit of open files (ulimit -n)" : ""));
    }
  }

  /// In a new process: each of the others is a descriptor, and they count against its limit of open files.
  void close_descriptors() {
    for (const Entry& entry : entries_) close(entry.descriptor);
  }
  std::size_t left() const { return entries_.size(); }

  /// Waits for an end, the timeout or a signal. Reaps what has ended; returns how the first bad one ended.
  std::string wait(std::chrono::milliseconds timeout, int watch_fd) {
    std::vector<pollfd> polled;
    for (const Entry& entry : entries_) polled.push_back({entry.descriptor, POLLIN, 0});
    polled.push_back({watch_fd, POLLIN, 0});
    poll(polled.data(), polled.size(), static_cast<int>(std::min<std::int64_t>(timeout.count(), 1'000'000)));
    std::string bad;
    for (std::size_t i = entries_.size(); i-- > 0;) {
      int status = 0;
      if (polled[i].revents == 0 || waitpid(entries_[i].pid, &status, WNOHANG) != entries_[i].pid) continue;
      if (WIFSIGNALED(status)) {
        bad = fmt::format("process {} was killed by signal {} ({})", entries_[i].pid, WTERMSIG(status),
                          strsignal(WTERMSIG(status)));
      } else if (WEXITSTATUS(status) != 0) {
        bad = fmt::format("process {} could not begin its work (status {})", entries_[i].pid, WEXITSTATUS(status));
      }
      close(entries_[i].descriptor);
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return bad;
  }

  void kill_all() {
    for (const Entry& entry : entries_) kill(entry.pid, SIGKILL);
    for (const Entry& entry : entries_) {
      // A process in an uninterruptible call ends when the call does: there is nothing else to do than to wait.
      while (waitpid(entry.pid, nullptr, 0) < 0 && errno == EINTR) {
      }
      if (entry.descriptor >= 0) close(entry.descriptor);
    }
    entries_.clear();
  }

 private:
  struct Entry {
    pid_t pid;
    int descriptor;
  };
  std::vector<Entry> entries_;
};

void collect(const RepetitionRequest& request, SharedPages& pages, std::int64_t opened_ns, RepetitionResult& result) {
  std::int64_t first_start = INT64_MAX, last_start = 0, first_end = INT64_MAX, last_end = 0;
  for (int i = 0; i < request.processes; ++i) {
    const Slot& slot = pages.slot(static_cast<std::size_t>(i));
    result.files += slot.counters.files.load();
    result.bytes += slot.counters.bytes.load();
    result.errors_not_kept += slot.counters.errors_not_kept;
    std::vector<ErrorRecord> errors;
    for (std::uint32_t kind = 0; kind < slot.counters.error_kinds; ++kind) {
      const phases::ErrorCount& error = slot.counters.errors[kind];
      const bool difference = error.operation == phases::Operation::verify;
      errors.push_back({phases::operation_name(error.operation), error.error_number,
                        difference ? "MISMATCH" : errno_name(error.error_number), error.count, error.first_path});
    }
    merge_errors(result.errors, errors);
    if (slot.start_ns == 0) continue;
    first_start = std::min(first_start, slot.start_ns);
    last_start = std::max(last_start, slot.start_ns);
    if (slot.end_ns == 0) continue;
    first_end = std::min(first_end, slot.end_ns);
    last_end = std::max(last_end, slot.end_ns);
    result.cpu_user_seconds += seconds_of(slot.after.ru_utime) - seconds_of(slot.before.ru_utime);
    result.cpu_system_seconds += seconds_of(slot.after.ru_stime) - seconds_of(slot.before.ru_stime);
  }
  if (last_start != 0) result.start_skew_seconds = static_cast<double>(last_start - first_start) / 1e9;
  if (opened_ns != 0 && last_end > opened_ns) {
    const auto together = static_cast<double>(std::max<std::int64_t>(0, first_end - last_start));
    result.overlap = together / static_cast<double>(last_end - opened_ns);
  }
  // A phase that did not end has lasted until now.
  if (last_end == 0 || !result.failure.empty()) last_end = now_ns();
  if (opened_ns != 0) result.seconds = static_cast<double>(last_end - opened_ns) / 1e9;
}

}  // namespace

void merge_errors(std::vector<ErrorRecord>& into, const std::vector<ErrorRecord>& from) {
  for (const ErrorRecord& error : from) {
    const auto same = std::find_if(into.begin(), into.end(), [&](const ErrorRecord& other) {
      return other.operation == error.operation && other.code == error.code;
    });
    if (same != into.end()) {
      same->count += error.count;
    } else {
      into.push_back(error);
    }
  }
}

RepetitionResult run_repetition(const RepetitionRequest& request, const InterruptWatch& watch) {
  if (request.verify && request.phase->verify == nullptr) {
    throw std::invalid_argument(fmt::format("{}: there is nothing to compare after it", request.phase->name));
  }
  const bool measure_latencies = request.measure_latencies && !request.verify;
  RepetitionResult result;
  const auto count = static_cast<std::size_t>(request.processes);
  SharedPages pages(count);
  LatencyPages latencies(count, measure_latencies);
  Processes processes;
  std::int64_t opened_ns = 0;
  const pid_t self = getpid();

  for (int process = 1; process <= request.processes && result.failure.empty(); ++process) {
    const pid_t pid = fork();
    if (pid == 0) {
      processes.close_descriptors();
      be_worker(request, process, self, pages.barrier(), pages.slot(static_cast<std::size_t>(process - 1)),
                latencies.of(static_cast<std::size_t>(process - 1)));
    }
    if (pid < 0) {
      result.failure =
          fmt::format("process {} of {} could not be started: {}", process, request.processes, errno_text(errno));
    } else {
      processes.add(pid);
    }
  }

  const auto start_limit = Clock::now() + request.start_deadline;
  while (result.failure.empty()) {
    const std::uint32_t ready = pages.barrier().ready.load();
    if (ready == count) break;
    futex_wait(pages.barrier().ready, ready, std::chrono::milliseconds(20));
    watch.check();
    result.failure = processes.wait(std::chrono::milliseconds(0), watch.descriptor());
    if (result.failure.empty() && processes.left() < count) result.failure = "a process ended before the start";
    if (result.failure.empty() && Clock::now() > start_limit) {
      result.failure = fmt::format("only {} of {} processes were ready in time", ready, request.processes);
    }
  }

  if (result.failure.empty()) {
    const auto limit = Clock::now() + request.deadline;
    opened_ns = now_ns();
    pages.barrier().open.store(1, std::memory_order_release);
    futex_wake_all(pages.barrier().open);
    const bool progress = request.progress_interval.count() > 0 && request.progress;
    while (processes.left() > 0 && result.failure.empty()) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now());
      if (left.count() <= 0) {
        result.failure = fmt::format("the {} passed its deadline of {} s: raise --phase-timeout",
                                     request.verify ? "comparison" : "phase", seconds_text(request.deadline));
        break;
      }
      result.failure = processes.wait(progress ? std::min(left, request.progress_interval) : left, watch.descriptor());
      watch.check();
      if (!progress) continue;
      std::uint64_t files = 0;
      for (std::size_t i = 0; i < count; ++i) files += pages.slot(i).counters.files.load(std::memory_order_relaxed);
      request.progress(files);
    }
  }
  processes.kill_all();
  collect(request, pages, opened_ns, result);
  if (measure_latencies) {
    result.latencies = std::make_shared<phases::Latencies>();
    for (std::size_t i = 0; i < count; ++i) phases::merge(*result.latencies, *latencies.of(i));
  }
  return result;
}

}  // namespace mongo
