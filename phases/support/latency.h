#pragma once

#include <time.h>

#include <bit>
#include <cstddef>
#include <cstdint>

#include "phases/phase.h"
#include "phases/support/ticks.h"

namespace mongo::phases {

/// How often an operation took how long, in nanoseconds. Log-linear: values below 256 have buckets of their own, above
/// each power of two is divided into 128, so that a bucket is at most 1/128 of its value wide and its middle at most
/// 0.4 % off. Plain memory of fixed size. The form is that of HdrHistogram (hdrhistogram.org) with two significant
/// digits.
struct Histogram {
  static constexpr unsigned exact_bits = 8;
  static constexpr unsigned largest_bit = 42;  // 2^43 ns are more than two hours; what is longer is counted as that
  static constexpr std::size_t divisions = 128;
  static constexpr std::size_t buckets = (1U << exact_bits) + (largest_bit - exact_bits + 1) * divisions;

  std::uint64_t count = 0;
  std::uint64_t sum_ns = 0;
  std::uint64_t max_ns = 0;
  std::uint32_t counts[buckets] = {};

  static std::size_t index_of(std::uint64_t ns) {
    if (ns < (1U << exact_bits)) return ns;
    constexpr std::uint64_t largest = (std::uint64_t{1} << (largest_bit + 1)) - 1;
    if (ns > largest) ns = largest;
    const auto exponent = static_cast<unsigned>(std::bit_width(ns)) - 1;
    return (1U << exact_bits) + (exponent - exact_bits) * divisions + (ns >> (exponent - 7)) - divisions;
  }

  /// The smallest value that falls into a bucket; of the one after the last: where the range ends.
  static std::uint64_t lowest(std::size_t index) {
    if (index < (1U << exact_bits)) return index;
    const std::size_t above = index - (1U << exact_bits);
    return (divisions + above % divisions) << (above / divisions + 1);
  }

  void record(std::uint64_t ns) {
    ++counts[index_of(ns)];
    ++count;
    sum_ns += ns;
    if (ns > max_ns) max_ns = ns;
  }
};

/// Adds one histogram to another: what a single one would hold that had seen both.
void merge(Histogram& into, const Histogram& from);

/// The histograms of one worker, one for each operation. Pages that no operation uses are never touched.
struct Latencies {
  std::uint64_t tick_scale = 0;  // see phases/support/ticks.h; 0: measured by clock_gettime(2)
  Histogram of[operation_count];
};

void merge(Latencies& into, const Latencies& from);

/// Measures operations that follow each other: one clock reading ends one and begins the next.
class LatencyClock {
 public:
  explicit LatencyClock(Latencies* latencies)
      : latencies_(latencies), scale_(latencies == nullptr ? 0 : latencies->tick_scale) {
    restart();
  }
  /// What follows is the operation; what came before was something else.
  void restart() {
    if (latencies_ != nullptr) last_ = now();
  }
  void operation_ended(Operation operation) {
    if (latencies_ == nullptr) return;
    const std::uint64_t time = now();
    const std::uint64_t lasted = time - last_;
    latencies_->of[static_cast<std::size_t>(operation)].record(scale_ == 0 ? lasted : ticks_to_ns(lasted, scale_));
    last_ = time;
  }

 private:
  /// Ticks, or nanoseconds where there is no scale.
  std::uint64_t now() const {
    if (scale_ != 0) return read_ticks();
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
  }
  Latencies* latencies_;
  std::uint64_t scale_;
  std::uint64_t last_ = 0;
};

}  // namespace mongo::phases
