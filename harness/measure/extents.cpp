#include "harness/measure/extents.h"

#include <linux/fs.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

namespace mongo {

void FragmentHistogram::add(std::uint64_t fragments) {
  ++files_[fragments == 0 ? 0 : static_cast<std::size_t>(std::bit_width(fragments - 1)) + 1];
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> FragmentHistogram::buckets() const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> result;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const std::uint64_t least = i < 2 ? i : (std::uint64_t{1} << (i - 2)) + 1;
    if (files_[i] > 0) result.emplace_back(least, files_[i]);
  }
  return result;
}

void ExtentCounter::add(const fiemap_extent& extent) {
  const std::uint32_t flags = extent.fe_flags;
  const auto no_fragment = [&](std::uint64_t& counter) {
    ++counter;
    open_ = false;  // what follows does not continue what came before
  };
  if ((flags & FIEMAP_EXTENT_SHARED) != 0) ++result_.shared;
  // Delayed extents carry UNKNOWN too; UNKNOWN alone has no place that could be compared either.
  if ((flags & (FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_UNKNOWN)) != 0) return no_fragment(result_.delayed);
  if ((flags & (FIEMAP_EXTENT_DATA_INLINE | FIEMAP_EXTENT_DATA_TAIL)) != 0) return no_fragment(result_.inline_data);
  if ((flags & FIEMAP_EXTENT_UNWRITTEN) != 0) return no_fragment(result_.unwritten);
  if ((flags & (FIEMAP_EXTENT_ENCODED | FIEMAP_EXTENT_DATA_ENCRYPTED)) != 0) return no_fragment(result_.encoded);
  if (!open_ || extent.fe_logical != logical_end_ || extent.fe_physical != physical_end_) ++result_.fragments;
  open_ = true;
  logical_end_ = extent.fe_logical + extent.fe_length;
  physical_end_ = extent.fe_physical + extent.fe_length;
}

ExtentReader::ExtentReader(unsigned buffer) : buffer_(std::max(1U, buffer)) {
  // 64-bit words: the kernel's structure wants that alignment.
  memory_.resize((sizeof(fiemap) + buffer_ * sizeof(fiemap_extent)) / sizeof(std::uint64_t) + 1);
}

int ExtentReader::read(int fd, std::uint32_t flags, FileExtents& result) {
  auto* map = reinterpret_cast<fiemap*>(memory_.data());
  ExtentCounter counter;
  std::uint64_t start = 0;
  while (true) {
    std::memset(map, 0, sizeof *map);
    map->fm_start = start;
    map->fm_length = FIEMAP_MAX_OFFSET - start;
    map->fm_flags = start == 0 ? flags : 0;
    map->fm_extent_count = buffer_;
    if (ioctl(fd, FS_IOC_FIEMAP, map) != 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    if (map->fm_mapped_extents == 0) break;
    bool last = false;
    for (std::uint32_t i = 0; i < map->fm_mapped_extents; ++i) {
      const fiemap_extent& extent = map->fm_extents[i];
      counter.add(extent);
      last = (extent.fe_flags & FIEMAP_EXTENT_LAST) != 0;
      start = extent.fe_logical + extent.fe_length;
    }
    if (last) break;
  }
  result = counter.result();
  return 0;
}

}  // namespace mongo
