#pragma once

#include "harness/run/cell_runner.h"

namespace mongo {

/// Runs a cell in a folder of its own, DIRECTORY/mongo-RUN_ID, that it makes and removes; each pass in a new one.
/// Nothing is formatted or mounted, and root is not needed. As run_cell else.
RunRecord run_in_directory(const Cell& cell, const RunServices& services);

}  // namespace mongo
