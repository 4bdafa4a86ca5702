#pragma once

#include <cstdint>
#include <vector>

namespace mongo {

/// Two clocks of the kernel at one moment, in nanoseconds. While the machine is suspended the first stands still and
/// the second goes on. Source: clock_gettime(2).
struct ClockReading {
  std::uint64_t monotonic_ns = 0;
  std::uint64_t boottime_ns = 0;
};

/// Reads both, again if something came in between: a busy machine shall not look like one that slept.
ClockReading read_clocks();

/// Seconds that the machine was suspended between two readings. 0 below a millisecond: the clocks are not read at one
/// instant.
double suspended_seconds(const ClockReading& before, const ClockReading& after);

/// Whether a time is so short that steps of the clock are more than a hundredth of it.
bool too_short(double seconds, std::uint64_t resolution_ns);

/// The smallest difference between neighbours that is not 0; 0 when there is none. For ascending readings.
std::uint64_t smallest_step(const std::vector<std::uint64_t>& readings);

/// The smallest step of CLOCK_MONOTONIC that is seen in some thousand readings, but at least what clock_getres(2) says.
/// Nanoseconds. Takes less than a millisecond, or a tick of the clock where that is longer.
std::uint64_t measure_clock_resolution();

}  // namespace mongo
