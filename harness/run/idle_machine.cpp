#include "harness/run/idle_machine.h"

#include <chrono>
#include <thread>

#include "harness/measure/activity.h"
#include "phases/support/ticks.h"

namespace mongo {

IdleMachine look_at_idle_machine() {
  IdleMachine idle;
  const phases::TickCalibration ticks;
  const std::optional<double> before = read_busy_seconds();
  const auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const std::optional<double> after = read_busy_seconds();
  idle.tick_scale = ticks.scale();
  if (!before || !after) return idle;
  idle.load = (*after - *before) / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return idle;
}

}  // namespace mongo
