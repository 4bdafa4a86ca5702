#pragma once

#include "harness/run/cell_runner.h"

namespace mongo {

/// Runs a cell in a folder of its own, DIRECTORY/mongo-RUN_ID, that it makes and removes; each pass in a new one.
/// Nothing is formatted or mounted, and root is not needed. As run_cell else.
RunRecord run_in_directory(const Cell& cell, const RunServices& services);

/// Throws DeviceRefused where no run can work: no directory, not writable, or a kernel interface as /proc is. Touches
/// nothing, so that a run may still find that no folder can be made there.
void check_directory(const std::string& path);

}  // namespace mongo
