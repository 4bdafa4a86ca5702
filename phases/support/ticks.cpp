#include "phases/support/ticks.h"

#include <time.h>

#include <fstream>
#include <string>

namespace mongo::phases {
namespace {

std::uint64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

bool kernel_uses_ticks(const char* clock_source) {
#if defined(__x86_64__)
  std::ifstream file(clock_source);
  std::string name;
  return file >> name && name == "tsc";
#else
  static_cast<void>(clock_source);
  return false;
#endif
}

}  // namespace

TickCalibration::TickCalibration(const char* clock_source) : usable_(kernel_uses_ticks(clock_source)), first_(read()) {}

/// Both at one moment: of some tries the one with the least between them.
TickCalibration::Reading TickCalibration::read() {
  Reading best;
  std::uint64_t least = UINT64_MAX;
  for (int attempt = 0; attempt < 20; ++attempt) {
    const std::uint64_t before = read_ticks(), ns = now_ns(), after = read_ticks();
    if (after - before >= least) continue;
    least = after - before;
    best = {before + (after - before) / 2, ns};
  }
  return best;
}

std::uint64_t TickCalibration::scale() const {
  const Reading last = read();
  if (!usable_ || last.ticks <= first_.ticks || last.ns <= first_.ns) return 0;
  const double ns_a_tick = static_cast<double>(last.ns - first_.ns) / static_cast<double>(last.ticks - first_.ticks);
  if (ns_a_tick < 0.01 || ns_a_tick > 100) return 0;  // no processor has such a counter
  return static_cast<std::uint64_t>(ns_a_tick * 4294967296.0);
}

}  // namespace mongo::phases
