#pragma once

#include <string>
#include <vector>

#include "harness/core/record.h"

namespace mongo {

/// The layout of the published tables, for each size that they have: the times of the runs as multiples of the first
/// run's, and beside those of a file system what the published tables have for it, as multiples of what they have for
/// the first run's file system. Published file systems that no run has stand at the end. Runs among themselves are
/// warned about as in side_by_side; against the published ones only profile and processes are. Throws UsageError when
/// the published tables do not have the first run's file system, or have one twice.
std::string beside_published(const std::vector<RunRecord>& runs, const std::vector<RunRecord>& published);

}  // namespace mongo
