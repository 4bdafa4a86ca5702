#pragma once

#include <functional>
#include <optional>
#include <string>

#include "harness/core/interrupt.h"
#include "harness/core/record.h"
#include "harness/matrix/state.h"
#include "harness/plan/cell.h"

namespace mongo {

/// A cell that is run in a process of its own, so that its crash, its mount namespace and its signals are not ours.
struct CellJob {
  const Cell* cell = nullptr;
  std::string folder;         // to run it in: where relative names are meant
  std::string lock_file;      // locked by that process until it and all that it started have ended
  int close_descriptor = -1;  // of this process's own, not to be kept open there
  int progress_interval = 0;  // milliseconds
};

struct CellOutcome {
  RunRecord record;
  bool died = false;            // without a record of its own; then it is failed with how that was
  std::string results_problem;  // the results cannot be written: the cell was not run
  double seconds = 0;
};

/// Runs the cell to its end. A signal that comes to this process is passed on, and the undoing waited for. When this
/// process is killed, the cell is interrupted and undone all the same. on_progress: called with the news of the phase,
/// and with nothing about once a second. Must be called while this process has no other thread.
CellOutcome run_in_own_process(const CellJob& job, const InterruptWatch& watch,
                               const std::function<void(const std::optional<CellProgress>&)>& on_progress);

}  // namespace mongo
