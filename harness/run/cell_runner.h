#pragma once

#include "harness/core/interrupt.h"
#include "harness/core/record.h"
#include "harness/plan/cell.h"
#include "harness/process/runner.h"
#include "harness/run/observer.h"

namespace mongo {

/// What a run works with.
struct RunServices {
  ProcessRunner& runner;
  const InterruptWatch& watch;
  RunObserver& observer;
};

/// Runs one cell from the guard to the last undo, in a mount namespace of its own, and returns its record; the record
/// is not written anywhere. Before anything is touched it throws UsageError, DeviceRefused or Error; a file system that
/// this host lacks gives a record with status unsupported. Afterwards every failure is in the record, and everything is
/// undone.
RunRecord run_cell(const Cell& cell, const RunServices& services);

/// What run_cell would do, as text: the commands and the cell. Touches nothing.
std::string describe_cell(const Cell& cell);

/// The exit status that belongs to a finished record. An interruption is 128 + the signal.
int exit_status(const RunRecord& record, const InterruptWatch& watch);

}  // namespace mongo
