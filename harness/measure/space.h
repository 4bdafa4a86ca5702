#pragma once

#include <cstdint>
#include <string>

namespace mongo {

/// How full a file system is, from fstatvfs(3).
struct Space {
  std::uint64_t used_bytes = 0;
  std::uint64_t free_bytes = 0;  // also those reserved for root, who runs the workload
  std::uint64_t inodes = 0;      // 0 where inodes are not counted, as on btrfs
  std::uint64_t free_inodes = 0;
};

/// Throws RunError("measure", ...).
Space read_space(int fd);

/// How syncfs(2) went.
struct SyncResult {
  double seconds = 0;  // by the monotonic clock
  int error = 0;       // errno, or 0: what delayed allocation could not place is told here
};

/// syncfs(2).
SyncResult sync_filesystem(int fd);

}  // namespace mongo
