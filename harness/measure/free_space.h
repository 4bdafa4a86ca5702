#pragma once

#include <array>
#include <cstdint>

#include "harness/core/record.h"

namespace mongo {

/// Sums runs of free bytes. Constant memory.
class FreeRuns {
 public:
  /// Runs in ascending order of their place, in bytes, none of them twice. Those that touch are one extent.
  void add(std::uint64_t start, std::uint64_t length);
  /// All that was added, with that method.
  FreeSpace result(const char* method) const;

 private:
  void close_run();

  std::uint64_t start_ = 0, end_ = 0;  // of the run that may go on
  std::uint64_t extents_ = 0, bytes_ = 0, largest_ = 0;
  std::array<std::uint64_t, 64> by_size_{};  // extents of 2^index bytes and more, less than twice that
};

/// Where the free space of the file system lies that fd is on; any open directory of it. Sync before: what was deleted
/// a moment ago may not be free yet. Methods:
///   "GETFSMAP": ioctl FS_IOC_GETFSMAP, on the device of the data. What ext4 has set aside for files that may grow is
///   not free there until the next mount. Source: ioctl_getfsmap(2), linux/fsmap.h.
///   "free space tree": btrfs; see harness/measure/free_space_btrfs.h.
/// Null with the reason where there is neither. Constant memory. Throws nothing.
FreeSpace read_free_space(int fd);

}  // namespace mongo
