#include "harness/measure/fibmap.h"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <limits>

namespace mongo {
namespace {

constexpr std::uint64_t most_blocks = std::numeric_limits<int>::max();

/// Replaces the number of a block in the file by its number on the device. Returns 0 or an errno.
int map_block(int fd, int& block) {
  while (ioctl(fd, FIBMAP, &block) != 0) {
    if (errno != EINTR) return errno;
  }
  // Before Linux 5.8 a number that is too large comes back cut to an int.
  return block < 0 ? EOVERFLOW : 0;
}

}  // namespace

int BlockReader::probe(int fd) {
  int block_bytes = 0;
  if (ioctl(fd, FIGETBSZ, &block_bytes) != 0) return errno;
  if (block_bytes <= 0) return EINVAL;
  int block = 0;
  if (const int error = map_block(fd, block); error != 0) return error;
  struct statvfs info {};
  if (fstatvfs(fd, &info) != 0) return errno;
  block_bytes_ = static_cast<std::uint64_t>(block_bytes);
  // A number of more than 32 bits could come back cut to one that looks well.
  const double blocks = static_cast<double>(info.f_blocks) * static_cast<double>(info.f_frsize) / block_bytes;
  return blocks > static_cast<double>(most_blocks) ? EOVERFLOW : 0;
}

int BlockReader::read(int fd, std::uint64_t size, FileExtents& result) {
  const std::uint64_t blocks = size / block_bytes_ + (size % block_bytes_ != 0 ? 1 : 0);
  if (blocks > most_blocks) return EOVERFLOW;
  BlockRuns runs;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    if (i % 1024 == 1023) watch_.check();
    int block = static_cast<int>(i);
    if (const int error = map_block(fd, block); error != 0) return error;
    runs.add(static_cast<std::uint64_t>(block));
  }
  result = {};
  result.fragments = runs.fragments();
  return 0;
}

}  // namespace mongo
