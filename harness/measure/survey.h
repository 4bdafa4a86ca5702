#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "harness/core/interrupt.h"
#include "harness/core/record.h"

namespace mongo {

/// What a walk over a whole file system finds.
struct Survey {
  std::uint64_t files = 0;        // regular files without the file system's own
  std::uint64_t directories = 0;  // the root and lost+found included
  // Of all regular files; null when one of them could not be asked.
  std::optional<std::uint64_t> data_bytes;       // st_size
  std::optional<std::uint64_t> allocated_bytes;  // st_blocks, which counts units of 512 bytes
  Fragmentation fragmentation;
};

/// Which call tells where the data of a file is.
enum class ExtentSource {
  best,    // FIEMAP; FIBMAP where there is no FIEMAP
  fibmap,  // FIBMAP
};

/// Counts files, directories and fragments below root_fd. Sync before: extents that have no place yet are not counted
/// as fragments. `own_files`: names in the root that are passed over. Constant memory. Throws RunError("survey", ...),
/// Interrupted.
Survey survey_filesystem(int root_fd, const InterruptWatch& watch, std::span<const std::string> own_files = {},
                         ExtentSource source = ExtentSource::best);

}  // namespace mongo
