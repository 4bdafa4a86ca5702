#include "harness/workers/workers.h"

#include <fmt/format.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/eventfd.h>
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

#include "harness/core/descriptor.h"
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
  bool finished = false;  // after has been written
  phases::Counters counters;
};

/// The barrier. Its words are futexes (futex(2)).
struct alignas(128) Barrier {
  std::atomic<std::uint32_t> ready{0};
  std::atomic<std::uint32_t> open{0};
  std::atomic<std::uint32_t> released{0};  // who has done its work may end
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
                            phases::Latencies* latencies, int done) {
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
    context.own_files = request.own_files;
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
    slot.finished = true;
    const std::uint64_t one = 1;
    if (done >= 0 && write(done, &one, sizeof one) == static_cast<ssize_t>(sizeof one)) {
      while (barrier.released.load(std::memory_order_acquire) == 0) {
        futex_wait(barrier.released, 0, std::chrono::seconds(1));
      }
    }
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

  void add(pid_t pid, Slot& slot) {
    const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    entries_.push_back({pid, descriptor, &slot});
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

  /// Waits for an end, the timeout, a signal, or that `done` (-1: nothing) is readable. Reaps what has ended; returns
  /// how the first bad one ended.
  std::string wait(std::chrono::milliseconds timeout, int watch_fd, int done = -1) {
    std::vector<pollfd> polled;
    for (const Entry& entry : entries_) polled.push_back({entry.descriptor, POLLIN, 0});
    polled.push_back({watch_fd, POLLIN, 0});
    polled.push_back({done, POLLIN, 0});
    poll(polled.data(), polled.size(), static_cast<int>(std::min<std::int64_t>(timeout.count(), 1'000'000)));
    std::string bad;
    for (std::size_t i = entries_.size(); i-- > 0;) {
      int status = 0;
      if (polled[i].revents == 0 || !reap(entries_[i], &status, WNOHANG)) continue;
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
      while (!reap(entry, nullptr, 0) && errno == EINTR) {
      }
      if (entry.descriptor >= 0) close(entry.descriptor);
    }
    entries_.clear();
  }

 private:
  struct Entry {
    pid_t pid;
    int descriptor;
    Slot* slot;
  };

  /// What a process that was stopped has used is told by the kernel only.
  static bool reap(const Entry& entry, int* status, int options) {
    rusage used{};
    if (wait4(entry.pid, status, options, &used) != entry.pid) return false;
    if (!entry.slot->finished) entry.slot->after = used;
    return true;
  }

  std::vector<Entry> entries_;
};

/// `whole`: all processes have come to the end of their work.
void collect(const RepetitionRequest& request, SharedPages& pages, std::int64_t opened_ns, bool whole,
             RepetitionResult& result) {
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
    result.cpu_user_seconds += seconds_of(slot.after.ru_utime) - seconds_of(slot.before.ru_utime);
    result.cpu_system_seconds += seconds_of(slot.after.ru_stime) - seconds_of(slot.before.ru_stime);
    if (slot.end_ns == 0) continue;
    first_end = std::min(first_end, slot.end_ns);
    last_end = std::max(last_end, slot.end_ns);
  }
  if (last_start != 0) result.start_skew_seconds = static_cast<double>(last_start - first_start) / 1e9;
  if (opened_ns != 0 && last_end > opened_ns) {
    const auto together = static_cast<double>(std::max<std::int64_t>(0, first_end - last_start));
    result.overlap = together / static_cast<double>(last_end - opened_ns);
  }
  // A phase that did not end has lasted until now.
  if (!whole) last_end = now_ns();
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

namespace {

/// One repetition from the first fork to the last end.
class Repetition {
 public:
  Repetition(const RepetitionRequest& request, const InterruptWatch& watch, RepetitionResult& result)
      : request_(request),
        watch_(watch),
        result_(result),
        measure_latencies_(request.measure_latencies && !request.verify),
        count_(static_cast<std::size_t>(request.processes)),
        pages_(count_),
        latencies_(count_, measure_latencies_) {
    if (!request.at_end) return;
    done_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!done_) throw RunError("workers", "eventfd: " + errno_text(errno));
  }

  void run() {
    try {
      start();
      wait_until_ready();
      if (result_.failure.empty()) work();
    } catch (...) {
      tell(false);
      throw;
    }
    tell(result_.failure.empty());
  }

 private:
  void start() {
    const pid_t self = getpid();
    for (int process = 1; process <= request_.processes && result_.failure.empty(); ++process) {
      const auto index = static_cast<std::size_t>(process - 1);
      const pid_t pid = fork();
      if (pid == 0) {
        processes_.close_descriptors();
        be_worker(request_, process, self, pages_.barrier(), pages_.slot(index), latencies_.of(index), done_.get());
      }
      if (pid < 0) {
        result_.failure =
            fmt::format("process {} of {} could not be started: {}", process, request_.processes, errno_text(errno));
      } else {
        processes_.add(pid, pages_.slot(index));
      }
    }
  }

  void wait_until_ready() {
    const auto start_limit = Clock::now() + request_.start_deadline;
    while (result_.failure.empty()) {
      const std::uint32_t ready = pages_.barrier().ready.load();
      if (ready == count_) break;
      futex_wait(pages_.barrier().ready, ready, std::chrono::milliseconds(20));
      watch_.check();
      result_.failure = processes_.wait(std::chrono::milliseconds(0), watch_.descriptor());
      if (result_.failure.empty() && processes_.left() < count_) result_.failure = "a process ended before the start";
      if (result_.failure.empty() && Clock::now() > start_limit) {
        result_.failure = fmt::format("only {} of {} processes were ready in time", ready, request_.processes);
      }
    }
  }

  void work() {
    if (request_.at_start) request_.at_start();
    const auto limit = Clock::now() + request_.deadline;
    opened_ns_ = now_ns();
    pages_.barrier().open.store(1, std::memory_order_release);
    futex_wake_all(pages_.barrier().open);
    const bool progress = request_.progress_interval.count() > 0 && request_.progress;
    while (processes_.left() > 0 && result_.failure.empty()) {
      auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now());
      if (released_) left = std::chrono::milliseconds(1000);  // what at_end took is not the phase's
      if (left.count() <= 0) {
        result_.failure = fmt::format("the {} passed its deadline of {} s: raise --phase-timeout",
                                      request_.verify ? "comparison" : "phase", seconds_text(request_.deadline));
        break;
      }
      result_.failure = processes_.wait(progress ? std::min(left, request_.progress_interval) : left,
                                        watch_.descriptor(), done_.get());
      watch_.check();
      release_when_done();
      if (!progress) continue;
      std::uint64_t files = 0;
      for (std::size_t i = 0; i < count_; ++i) files += pages_.slot(i).counters.files.load(std::memory_order_relaxed);
      request_.progress(files);
    }
  }

  void release_when_done() {
    std::uint64_t more = 0;
    if (!done_ || read(done_.get(), &more, sizeof more) != static_cast<ssize_t>(sizeof more)) return;
    finished_ += more;
    if (finished_ < count_) return;
    request_.at_end();
    released_ = true;
    pages_.barrier().released.store(1, std::memory_order_release);
    futex_wake_all(pages_.barrier().released);
  }

  void tell(bool whole) {
    processes_.kill_all();
    collect(request_, pages_, opened_ns_, whole, result_);
    if (!measure_latencies_) return;
    result_.latencies = std::make_shared<phases::Latencies>();
    for (std::size_t i = 0; i < count_; ++i) phases::merge(*result_.latencies, *latencies_.of(i));
  }

  const RepetitionRequest& request_;
  const InterruptWatch& watch_;
  RepetitionResult& result_;
  const bool measure_latencies_;
  const std::size_t count_;
  SharedPages pages_;
  LatencyPages latencies_;
  Descriptor done_;  // counts the processes that have done their work
  std::uint64_t finished_ = 0;
  bool released_ = false;
  std::int64_t opened_ns_ = 0;
  Processes processes_;  // last: their slots are above
};

}  // namespace

void run_repetition(const RepetitionRequest& request, const InterruptWatch& watch, RepetitionResult& result) {
  if (request.verify && request.phase->verify == nullptr) {
    throw std::invalid_argument(fmt::format("{}: there is nothing to compare after it", request.phase->name));
  }
  Repetition(request, watch, result).run();
}

RepetitionResult run_repetition(const RepetitionRequest& request, const InterruptWatch& watch) {
  RepetitionResult result;
  run_repetition(request, watch, result);
  return result;
}

}  // namespace mongo
