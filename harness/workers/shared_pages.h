#pragma once

#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>

#include "harness/core/errors.h"
#include "phases/phase.h"
#include "phases/support/latency.h"

// What the processes of a repetition share. Private to harness/workers.

namespace mongo::workers {

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

/// CLOCK_MONOTONIC
std::int64_t now_ns();

/// Until the word is another than `expected`, it is woken, or the time is over: look again then.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::chrono::milliseconds timeout);
void futex_wake_all(std::atomic<std::uint32_t>& word);

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

}  // namespace mongo::workers
