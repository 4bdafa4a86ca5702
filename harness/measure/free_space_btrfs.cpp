#include "harness/measure/free_space_btrfs.h"

#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/errors.h"
#include "harness/measure/free_space.h"

namespace mongo {
namespace {

/// Ends the reading with the reason.
struct Unknown {
  std::string reason;
};

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

/// An integer of an item, which is little endian and not aligned.
template <class Integer>
Integer read_le(const unsigned char* bytes) {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) value |= static_cast<Integer>(Integer{bytes[i]} << (8 * i));
  return value;
}

struct Item {
  std::uint64_t objectid, offset;
  std::uint32_t type, length;
  const unsigned char* bytes;

  template <class Integer>
  Integer at(std::size_t position) const {
    if (position + sizeof(Integer) > length) throw Unknown{"a short item in a btrfs tree"};
    return read_le<Integer>(bytes + position);
  }
};

/// Goes through the items of a tree in ascending order from (objectid, type, 0) on. See search_key in linux/btrfs.h.
class TreeSearch {
 public:
  TreeSearch(int fd, const char* name, std::uint64_t tree) : fd_(fd), name_(name), tree_(tree) {}

  /// Calls visit(item) for the items with first <= objectid < end and first_type <= type <= last_type, until it returns
  /// false.
  template <class Visit>
  void each(std::uint64_t first, std::uint64_t end, std::uint32_t first_type, std::uint32_t last_type,
            std::uint64_t first_offset, Visit visit) {
    auto* const args = reinterpret_cast<btrfs_ioctl_search_args_v2*>(memory_.data());
    std::uint64_t objectid = first, offset = first_offset;
    std::uint32_t type = first_type;
    while (true) {
      std::memset(args, 0, sizeof *args);
      args->buf_size = memory_.size() * sizeof memory_[0] - sizeof *args;
      args->key.tree_id = tree_;
      args->key.min_objectid = objectid;
      args->key.min_type = type;
      args->key.min_offset = offset;
      args->key.max_objectid = end - 1;
      args->key.max_type = last_type;
      args->key.max_offset = no_limit;
      args->key.max_transid = no_limit;
      args->key.nr_items = std::numeric_limits<std::uint32_t>::max();
      if (ioctl(fd_, BTRFS_IOC_TREE_SEARCH_V2, args) != 0) {
        if (errno == EINTR) continue;
        throw Unknown{std::string(name_) + ": " + errno_name(errno)};
      }
      if (args->key.nr_items == 0) return;
      const auto* at = reinterpret_cast<const unsigned char*>(args) + sizeof *args;
      for (std::uint32_t i = 0; i < args->key.nr_items; ++i) {
        btrfs_ioctl_search_header header;
        std::memcpy(&header, at, sizeof header);
        at += sizeof header;
        const Item item{header.objectid, header.offset, header.type, header.len, at};
        at += header.len;
        // Keys are compared as one number, so that other types come along.
        if (item.type >= first_type && item.type <= last_type && !visit(item)) return;
        objectid = item.objectid;
        type = item.type;
        offset = item.offset;
      }
      // The key after the last one.
      if (++offset == 0 && ++type > 255) {
        type = 0;
        ++objectid;
      }
    }
  }

 private:
  int fd_;
  const char* name_;
  std::uint64_t tree_;
  std::vector<std::uint64_t> memory_ = std::vector<std::uint64_t>(65536 / sizeof(std::uint64_t));
};

/// Leaves out the bytes that btrfs never gives to anything: the first MiB, and each superblock's 64 KiB.
class DeviceRuns {
 public:
  void add(std::uint64_t start, std::uint64_t end) {
    start = std::max(start, std::uint64_t{1} << 20);
    for (const std::uint64_t super : {std::uint64_t{64} << 20, std::uint64_t{256} << 30}) {
      const std::uint64_t super_end = super + 65536;
      if (start < super) add_piece(start, std::min(end, super));
      if (start < super_end) start = super_end;
    }
    add_piece(start, end);
  }
  FreeSpace result() const { return runs_.result("free space tree"); }

 private:
  void add_piece(std::uint64_t start, std::uint64_t end) {
    if (start < end) runs_.add(start, end - start);
  }
  FreeRuns runs_;
};

class Btrfs {
 public:
  explicit Btrfs(int fd) : fd_(fd) {}

  FreeSpace read() {
    btrfs_ioctl_fs_info_args info{};
    if (ioctl(fd_, BTRFS_IOC_FS_INFO, &info) != 0) throw Unknown{"FS_INFO: " + errno_name(errno)};
    if (info.num_devices != 1) throw Unknown{"it has several devices"};
    sector_bytes_ = info.sectorsize;
    btrfs_ioctl_dev_info_args device{};
    device.devid = info.max_id;
    if (ioctl(fd_, BTRFS_IOC_DEV_INFO, &device) != 0) throw Unknown{"DEV_INFO: " + errno_name(errno)};
    std::uint64_t end = 0;
    devices_.each(device.devid, device.devid + 1, BTRFS_DEV_EXTENT_KEY, BTRFS_DEV_EXTENT_KEY, 0, [&](const Item& item) {
      runs_.add(end, item.offset);
      const auto chunk = item.at<std::uint64_t>(offsetof(btrfs_dev_extent, chunk_offset));
      const auto length = item.at<std::uint64_t>(offsetof(btrfs_dev_extent, length));
      if (holds_data(chunk)) add_chunk(chunk, length, item.offset);
      end = item.offset + length;
      return true;
    });
    runs_.add(end, device.total_bytes);
    return runs_.result();
  }

 private:
  bool holds_data(std::uint64_t chunk) {
    std::optional<std::uint64_t> type;
    chunks_.each(BTRFS_FIRST_CHUNK_TREE_OBJECTID, BTRFS_FIRST_CHUNK_TREE_OBJECTID + 1, BTRFS_CHUNK_ITEM_KEY,
                 BTRFS_CHUNK_ITEM_KEY, chunk, [&](const Item& item) {
                   if (item.offset == chunk) type = item.at<std::uint64_t>(offsetof(btrfs_chunk, type));
                   return false;
                 });
    if (!type) throw Unknown{"a chunk is missing"};
    if ((*type & BTRFS_BLOCK_GROUP_DATA) == 0) return false;
    if ((*type & BTRFS_BLOCK_GROUP_PROFILE_MASK) != 0) throw Unknown{"data lies in several places"};
    return true;
  }

  /// Adds the free runs of a chunk, whose addresses begin at `chunk` and lie on the device from `place` on.
  void add_chunk(std::uint64_t chunk, std::uint64_t length, std::uint64_t place) {
    const auto add = [&](std::uint64_t start, std::uint64_t end) {
      if (start < chunk || end > chunk + length) throw Unknown{"free space outside of its chunk"};
      runs_.add(start - chunk + place, end - chunk + place);
    };
    bool described = false;
    free_.each(chunk, chunk + length, BTRFS_FREE_SPACE_INFO_KEY, BTRFS_FREE_SPACE_BITMAP_KEY, 0, [&](const Item& item) {
      if (item.type == BTRFS_FREE_SPACE_INFO_KEY) {
        described = true;
      } else if (item.type == BTRFS_FREE_SPACE_EXTENT_KEY) {
        add(item.objectid, item.objectid + item.offset);
      } else {
        add_bitmap(item, add);
      }
      return true;
    });
    if (!described) throw Unknown{"a chunk is not in the free space tree"};
  }

  /// A bit for each sector, the lowest first; 1 is free.
  template <class Add>
  void add_bitmap(const Item& item, Add add) {
    const std::uint64_t sectors = item.offset / sector_bytes_;
    for (std::uint64_t i = 0; i < sectors; ++i) {
      if ((item.at<unsigned char>(i / 8) >> (i % 8) & 1) == 0) continue;
      const std::uint64_t start = item.objectid + i * sector_bytes_;
      add(start, start + sector_bytes_);
    }
  }

  int fd_;
  std::uint64_t sector_bytes_ = 4096;
  TreeSearch devices_{fd_, "device tree", BTRFS_DEV_TREE_OBJECTID};
  TreeSearch chunks_{fd_, "chunk tree", BTRFS_CHUNK_TREE_OBJECTID};
  TreeSearch free_{fd_, "free space tree", BTRFS_FREE_SPACE_TREE_OBJECTID};
  DeviceRuns runs_;
};

}  // namespace

FreeSpace read_free_space_of_btrfs(int fd) {
  try {
    return Btrfs(fd).read();
  } catch (const Unknown& unknown) {
    FreeSpace result;
    result.reason = "the free space of this btrfs cannot be read (" + unknown.reason + ")";
    return result;
  }
}

}  // namespace mongo
