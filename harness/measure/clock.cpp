#include "harness/measure/clock.h"

#include <algorithm>
#include <ctime>

namespace mongo {
namespace {

std::uint64_t nanoseconds(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return nanoseconds(time);
}

}  // namespace

ClockReading read_clocks() {
  constexpr std::uint64_t close_enough = 20'000;
  ClockReading best;
  std::uint64_t narrowest = UINT64_MAX;
  for (int attempt = 0; attempt < 20 && narrowest > close_enough; ++attempt) {
    const std::uint64_t before = now(CLOCK_MONOTONIC);
    const std::uint64_t boottime = now(CLOCK_BOOTTIME);
    const std::uint64_t width = now(CLOCK_MONOTONIC) - before;
    if (width < narrowest) {
      narrowest = width;
      best = {before, boottime};
    }
  }
  return best;
}

double suspended_seconds(const ClockReading& before, const ClockReading& after) {
  // Signed: a reading may be some nanoseconds on either side of the truth.
  const auto offset = [](const ClockReading& reading) {
    return static_cast<std::int64_t>(reading.boottime_ns - reading.monotonic_ns);
  };
  const std::int64_t slept = offset(after) - offset(before);
  return slept < 1'000'000 ? 0 : static_cast<double>(slept) / 1e9;
}

bool too_short(double seconds, std::uint64_t resolution_ns) {
  return seconds <= 0 || seconds * 1e9 < 100 * static_cast<double>(resolution_ns);
}

std::uint64_t smallest_step(const std::vector<std::uint64_t>& readings) {
  std::uint64_t smallest = 0;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    if (readings[i] <= readings[i - 1]) continue;
    const std::uint64_t step = readings[i] - readings[i - 1];
    if (smallest == 0 || step < smallest) smallest = step;
  }
  return smallest;
}

std::uint64_t measure_clock_resolution() {
  timespec claimed{};
  clock_getres(CLOCK_MONOTONIC, &claimed);
  std::vector<std::uint64_t> readings(4000);
  for (std::uint64_t& reading : readings) reading = now(CLOCK_MONOTONIC);
  std::uint64_t step = smallest_step(readings);
  // A clock that ticks with the timer interrupt has not moved yet: its next tick is waited for, not for ever.
  for (int i = 0; step == 0 && i < 5'000'000; ++i) step = now(CLOCK_MONOTONIC) - readings.back();
  return std::max(step, nanoseconds(claimed));
}

}  // namespace mongo
