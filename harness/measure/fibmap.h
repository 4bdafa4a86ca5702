#pragma once

#include <cstdint>

#include "harness/core/interrupt.h"
#include "harness/measure/extents.h"

namespace mongo {

/// Counts fragments of one file from the numbers of its blocks on the device, given in the order of the file. The
/// number 0 is a hole, or data without a block of its own (packed into a tail or an inode): no fragment.
class BlockRuns {
 public:
  void add(std::uint64_t block) {
    if (block != 0 && (before_ == 0 || block != before_ + 1)) ++fragments_;
    before_ = block;
  }
  std::uint64_t fragments() const { return fragments_; }

 private:
  std::uint64_t before_ = 0;
  std::uint64_t fragments_ = 0;
};

/// Reads where a file's blocks are with ioctl FIBMAP, one call a block: for file systems without FIEMAP. Needs
/// CAP_SYS_RAWIO. It tells neither unwritten nor shared nor encoded extents; file systems that have such do not answer
/// it, or have FIEMAP. What is not on disk yet is written first by some and 0 for others: sync before. Source:
/// linux/fs.h, ioctl_fibmap in the kernel's fs/ioctl.c.
class BlockReader {
 public:
  /// The watch is looked at during long files.
  explicit BlockReader(const InterruptWatch& watch) : watch_(watch) {}
  /// Asks, with any regular file of the file system, whether there is FIBMAP, and how large a block is (FIGETBSZ).
  /// Returns 0 or an errno: EINVAL where there is none, EPERM without the capability, EOVERFLOW on a file system with
  /// more blocks than the int of the call can number.
  int probe(int fd);
  /// The fragments of a file of `size` bytes; after a probe. Returns 0 or an errno, EOVERFLOW and ERANGE where a block
  /// has no number that fits. Throws Interrupted.
  int read(int fd, std::uint64_t size, FileExtents& result);

 private:
  const InterruptWatch& watch_;
  std::uint64_t block_bytes_ = 0;
};

}  // namespace mongo
