#pragma once

#include "harness/core/interrupt.h"
#include "harness/core/record.h"

namespace mongo {

/// What a walk over a whole file system finds.
struct Survey {
  std::uint64_t files = 0;        // regular files
  std::uint64_t directories = 0;  // the root and lost+found included
  Fragmentation fragmentation;
};

/// Counts files, directories and fragments below root_fd. Sync before: extents that have no place yet are not counted
/// as fragments. Constant memory. Throws RunError("survey", ...), Interrupted.
Survey survey_filesystem(int root_fd, const InterruptWatch& watch);

}  // namespace mongo
