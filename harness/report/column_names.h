#pragma once

#include <string>
#include <vector>

#include "harness/core/record.h"

namespace mongo {

/// How a run is called beside others.
struct ColumnName {
  std::string text;                // on one line
  std::vector<std::string> lines;  // for the head of a column
};

/// A name for each run, in ASCII, lines of at most `width` characters: the file system, and where several runs have the
/// same one, what tells them apart: mount options, mkfs options, processes, profile, sync policy, caches, content,
/// verification, kernel, log, run id.
std::vector<ColumnName> column_names(const std::vector<RunRecord>& runs, std::size_t width);

}  // namespace mongo
