#include "harness/workers/workers.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>

#include "harness/core/descriptor.h"
#include "harness/core/errors.h"
#include "harness/workers/processes.h"
#include "harness/workers/shared_pages.h"
#include "harness/workers/worker.h"

namespace mongo {
namespace {

using namespace workers;
using Clock = std::chrono::steady_clock;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// "0.5", "86400"
std::string seconds_text(std::chrono::milliseconds time) {
  std::string text = fmt::format("{}.{:03}", time.count() / 1000, time.count() % 1000);
  text.resize(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

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
