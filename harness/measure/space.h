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

/// syncfs(2). Returns the seconds that it took, by the monotonic clock. Throws RunError("sync", ...).
double sync_filesystem(int fd);

}  // namespace mongo
