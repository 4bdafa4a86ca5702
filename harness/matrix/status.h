#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/matrix/cell_list.h"
#include "harness/matrix/estimate.h"
#include "harness/matrix/run_folder.h"
#include "harness/matrix/state.h"

namespace mongo {

/// A run of a matrix as its folder shows it, to any process and on any machine that sees the folder.
struct MatrixStatus {
  RunFolder folder;
  CellListHead head;
  MatrixState state;                // a cell that no process is at work on any more is interrupted
  bool running = false;             // a process holds the lock
  bool undoing = false;             // none does, but the process of its last cell is still at work
  std::size_t missing_records = 0;  // of cells that are done: they are run again by --resume
  std::optional<Overview> overview;
};

/// Throws UsageError when it is no folder of a run.
MatrixStatus read_status(const RunFolder& folder);

/// "ended: 12 ok", "running on host1: ...", "killed: ...": one line.
std::string headline(const MatrixStatus& status);

nlohmann::ordered_json to_json(const MatrixStatus& status);

}  // namespace mongo
