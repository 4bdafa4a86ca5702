#pragma once

#include <cstdint>

namespace mongo {

/// What is found out about the machine while the run does nothing.
struct IdleMachine {
  double load = 0;               // how busy it is by itself, in CPUs
  std::uint64_t tick_scale = 0;  // see phases/support/ticks.h
};

/// Half a second of nothing.
IdleMachine look_at_idle_machine();

}  // namespace mongo
