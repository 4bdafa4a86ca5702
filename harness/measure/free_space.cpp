#include "harness/measure/free_space.h"

#include <linux/fsmap.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <limits>
#include <string>
#include <vector>

#include "harness/core/errors.h"
#include "harness/measure/free_space_btrfs.h"

namespace mongo {
namespace {

constexpr std::uint32_t records_a_call = 1024;

FreeSpace unknown(const std::string& why) {
  FreeSpace result;
  result.reason = "the file system does not tell its free space (GETFSMAP: " + why + ")";
  return result;
}

/// The records of the device that holds the data.
class DataDevice {
 public:
  explicit DataDevice(int fd) {
    struct stat info {};
    if (fstat(fd, &info) == 0) device_ = info.st_dev;
  }

  bool has(const fsmap_head& head, const fsmap& record) {
    if ((head.fmh_oflags & FMH_OF_DEV_T) != 0) return record.fmr_device == device_;
    // Cookies then, that mean nothing but order: XFS, the only one with several, has the data first.
    if (!first_known_) cookie_ = record.fmr_device;
    first_known_ = true;
    return record.fmr_device == cookie_;
  }

 private:
  std::uint64_t device_ = 0;
  bool first_known_ = false;
  std::uint32_t cookie_ = 0;
};

bool same_place(const fsmap& a, const fsmap& b) {
  return a.fmr_device == b.fmr_device && a.fmr_physical == b.fmr_physical && a.fmr_owner == b.fmr_owner &&
         a.fmr_offset == b.fmr_offset && a.fmr_flags == b.fmr_flags;
}

}  // namespace

void FreeRuns::add(std::uint64_t start, std::uint64_t length) {
  if (length == 0) return;
  if (start != end_ || start_ == end_) {
    close_run();
    start_ = start;
  }
  end_ = start + length;
}

void FreeRuns::close_run() {
  if (start_ == end_) return;
  const std::uint64_t length = end_ - start_;
  ++extents_;
  bytes_ += length;
  largest_ = std::max(largest_, length);
  ++by_size_[static_cast<std::size_t>(std::bit_width(length)) - 1];
}

FreeSpace FreeRuns::result(const char* method) const {
  FreeRuns all = *this;
  all.close_run();
  FreeSpace result;
  result.method = method;
  result.extents = all.extents_;
  result.bytes = all.bytes_;
  result.largest_bytes = all.largest_;
  for (std::size_t i = 0; i < all.by_size_.size(); ++i) {
    if (all.by_size_[i] > 0) result.histogram.emplace_back(std::uint64_t{1} << i, all.by_size_[i]);
  }
  return result;
}

FreeSpace read_free_space(int fd) {
  struct statfs info {};
  if (fstatfs(fd, &info) == 0 && info.f_type == BTRFS_SUPER_MAGIC) return read_free_space_of_btrfs(fd);
  DataDevice data(fd);
  FreeRuns runs;
  // 64-bit words: the kernel's structure wants that alignment.
  std::vector<std::uint64_t> memory((sizeof(fsmap_head) + records_a_call * sizeof(fsmap)) / sizeof(std::uint64_t));
  auto* const head = reinterpret_cast<fsmap_head*>(memory.data());
  head->fmh_count = records_a_call;
  fsmap& high = head->fmh_keys[1];
  high.fmr_device = high.fmr_flags = std::numeric_limits<std::uint32_t>::max();
  high.fmr_physical = high.fmr_owner = high.fmr_offset = std::numeric_limits<std::uint64_t>::max();
  while (true) {
    if (ioctl(fd, FS_IOC_GETFSMAP, head) != 0) {
      if (errno == EINTR) continue;
      return unknown(errno_name(errno));
    }
    if (head->fmh_entries == 0) break;
    for (std::uint32_t i = 0; i < head->fmh_entries; ++i) {
      const fsmap& record = head->fmh_recs[i];
      const bool free = (record.fmr_flags & FMR_OF_SPECIAL_OWNER) != 0 && record.fmr_owner == FMR_OWN_FREE;
      if (free && data.has(*head, record)) runs.add(record.fmr_physical, record.fmr_length);
    }
    const fsmap& last = head->fmh_recs[head->fmh_entries - 1];
    if ((last.fmr_flags & FMR_OF_LAST) != 0) break;
    if (same_place(last, head->fmh_keys[0])) return unknown("the same answer again and again");
    fsmap_advance(head);
  }
  return runs.result("GETFSMAP");
}

}  // namespace mongo
