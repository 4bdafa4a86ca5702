#pragma once

#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace mongo::phases {

/// The processor's own counter, which costs half of what clock_gettime(2) does. Only where the kernel itself takes the
/// time from it (clock source tsc): then it runs at one rate on all CPUs.
inline std::uint64_t read_ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return 0;
#endif
}

/// `scale` is nanoseconds a tick * 2^32.
inline std::uint64_t ticks_to_ns(std::uint64_t ticks, std::uint64_t scale) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(ticks) * scale) >> 32);
}

/// Finds out how long a tick is. The longer there is between construction and scale(), the better: after 10 ms it is
/// better than 0.01 %.
class TickCalibration {
 public:
  /// `clock_source` is a file that names the kernel's clock source.
  explicit TickCalibration(
      const char* clock_source = "/sys/devices/system/clocksource/clocksource0/current_clocksource");
  /// Nanoseconds a tick * 2^32; 0 where ticks cannot be used.
  std::uint64_t scale() const;

 private:
  struct Reading {
    std::uint64_t ticks = 0, ns = 0;
  };
  static Reading read();
  bool usable_;
  Reading first_;
};

}  // namespace mongo::phases
