#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "harness/core/interrupt.h"
#include "harness/matrix/run_folder.h"
#include "harness/matrix/state.h"
#include "harness/process/runner.h"

namespace mongo {

/// Below this load the machine counts as idle.
inline constexpr double idle_load = 0.5;

/// The load average over one minute; nothing where it cannot be read.
std::optional<double> read_load();

/// Waits until the load is below idle_load, at most for `patience`. Returns a warning when it is not then; empty when
/// all is well. Throws Interrupted when a signal comes. load, and how long to wait between two looks: for tests.
std::string wait_until_idle(std::chrono::seconds patience, const InterruptWatch& watch,
                            const std::function<std::optional<double>()>& load = read_load,
                            std::chrono::milliseconds between = std::chrono::seconds(5));

/// The program that is told of a run's end. Throws UsageError when there is no such program, or the kernel would not
/// start it; found now, because it is called from another folder, and at the end it would be too late.
std::string find_hook(const std::string& program);

/// Calls `PROGRAM FOLDER STATUS` with the outcome in its environment (MONGO_MATRIX_...). Returns a warning when that
/// failed; empty when all was well.
std::string call_hook(const std::string& program, const RunFolder& folder, const MatrixState& state, int exit_status,
                      ProcessRunner& runner);

}  // namespace mongo
