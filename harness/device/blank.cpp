#include "harness/device/blank.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include "harness/core/errors.h"
#include "harness/device/sys_block.h"
#include "harness/device/system_files.h"

namespace mongo {

namespace {

constexpr std::uint64_t end_bytes = 4u << 20;
constexpr std::uint64_t block_bytes = 4096;
constexpr std::uint64_t samples = 500;
constexpr std::uint64_t read_whole = 64u << 20;  // below a second on a hard disk, as the samples are some seconds
constexpr std::size_t chunk_bytes = 1u << 20;
constexpr std::size_t most_extents = 100'000;

struct Range {
  std::uint64_t begin = 0, end = 0;
};

/// What of a regular file between begin and end is not a hole; nothing when its file system does not tell. What is
/// shifted: the device begins at that byte of the file.
std::optional<std::vector<Range>> data_between(int file, Range wanted, std::uint64_t shift) {
  std::vector<Range> found;
  std::uint64_t at = wanted.begin;
  while (at < wanted.end) {
    const off_t data = lseek(file, static_cast<off_t>(at + shift), SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;  // only a hole is left
    if (data < 0) return std::nullopt;
    const off_t hole = lseek(file, data, SEEK_HOLE);
    if (hole < data) return std::nullopt;
    const std::uint64_t begin = std::max(at, static_cast<std::uint64_t>(data) - shift);
    // Of a file in very many pieces the rest counts as one.
    at = found.size() >= most_extents ? wanted.end : static_cast<std::uint64_t>(hole) - shift;
    if (begin < wanted.end && begin < at) found.push_back({begin, std::min(at, wanted.end)});
  }
  return found;
}

/// The file behind a loop device, where it still has its name; its holes are the device's.
std::optional<std::vector<Range>> data_behind_loop(int device, dev_t rdev, Range wanted) {
  const std::string sys = "/sys/dev/block/" + major_minor_text(rdev) + "/loop/backing_file";
  std::string name = devio::read_file(sys).text;
  if (name.empty()) return std::nullopt;
  if (name.back() == '\n') name.pop_back();
  loop_info64 loop{};
  if (ioctl(device, LOOP_GET_STATUS64, &loop) != 0) return std::nullopt;
  const devio::FileDescriptor file(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info {};
  if (!file.valid() || fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  if (info.st_dev != loop.lo_device || info.st_ino != loop.lo_inode) return std::nullopt;
  // What was written to the device and is still in memory only is no data of the file yet.
  if (fsync(device) != 0) return std::nullopt;
  return data_between(file.get(), wanted, loop.lo_offset);
}

/// An open device or image, and the places in it that are looked at.
class Places {
 public:
  Places(int fd, std::string path, std::string step) : fd_(fd), path_(std::move(path)), step_(std::move(step)) {
    struct stat info {};
    if (fstat(fd_, &info) != 0) fail("cannot be looked at");
    std::uint64_t size = 0;
    if (S_ISBLK(info.st_mode)) {
      if (ioctl(fd_, BLKGETSIZE64, &size) != 0) fail("does not tell its size");
    } else if (S_ISREG(info.st_mode)) {
      size = static_cast<std::uint64_t>(info.st_size);
    } else {
      throw RunError(step_, path_ + ": is neither a block device nor a regular file");
    }
    if (size <= 2 * end_bytes) {
      ranges = {{0, size}};
      return;
    }
    const Range middle{end_bytes, size - end_bytes};
    const auto known =
        S_ISREG(info.st_mode) ? data_between(fd_, middle, 0) : data_behind_loop(fd_, info.st_rdev, middle);
    ranges = {{0, end_bytes}};
    add_middle(known.value_or(std::vector<Range>{middle}));
    ranges.push_back({size - end_bytes, size});
  }

  /// Reads from an offset, as much as was asked for.
  void read(std::uint64_t offset, char* buffer, std::size_t length) const {
    while (length > 0) {
      const ssize_t got = pread(fd_, buffer, length, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail(fmt::format("cannot be read at byte {}", offset));
      if (got == 0) throw RunError(step_, fmt::format("{}: ends at byte {}, before its size", path_, offset));
      offset += static_cast<std::uint64_t>(got);
      buffer += got;
      length -= static_cast<std::size_t>(got);
    }
  }

  /// Lets the kernel fetch the scattered blocks in the order that suits the disk, and nothing beside them.
  void announce() const {
    posix_fadvise(fd_, 0, 0, POSIX_FADV_RANDOM);
    for (const Range& range : ranges) {
      if (range.end - range.begin > block_bytes) continue;
      posix_fadvise(fd_, static_cast<off_t>(range.begin), static_cast<off_t>(range.end - range.begin),
                    POSIX_FADV_WILLNEED);
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw RunError(step_, fmt::format("{}: {}: {}. Look at the kernel log (dmesg) for errors of the device.", path_,
                                      what, errno_text(errno)));
  }

  std::vector<Range> ranges;  // ascending

 private:
  void add_middle(const std::vector<Range>& data) {
    std::uint64_t total = 0;
    for (const Range& range : data) total += range.end - range.begin;
    if (total <= read_whole) {
      ranges.insert(ranges.end(), data.begin(), data.end());
      return;
    }
    // The n-th sample lies in the middle of the n-th of equal parts of the data, laid end to end.
    std::uint64_t before = 0, next = 0;
    for (const Range& range : data) {
      const std::uint64_t length = range.end - range.begin;
      for (; next < samples; ++next) {
        const std::uint64_t place = total / samples * next + total / samples / 2;
        if (place >= before + length) break;
        const std::uint64_t begin = (range.begin + place - before) / block_bytes * block_bytes;
        if (begin >= ranges.back().end) ranges.push_back({begin, begin + block_bytes});
      }
      before += length;
    }
  }

  int fd_;
  std::string path_, step_;
};

std::size_t piece(std::uint64_t begin, std::uint64_t end, std::size_t most) {
  return static_cast<std::size_t>(std::min<std::uint64_t>(end - begin, most));
}

bool is_zero(const char* bytes, std::size_t length) {
  return std::all_of(bytes, bytes + length, [](char byte) { return byte == 0; });
}

}  // namespace

std::optional<std::uint64_t> first_data(const std::string& path) {
  const devio::FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) {
    throw RunError("probe", fmt::format("{}: cannot be opened for reading: {}. It cannot be told what is on it.", path,
                                        errno_text(errno)));
  }
  const Places places(file.get(), path, "probe");
  places.announce();
  std::vector<char> buffer(chunk_bytes);
  for (const Range& range : places.ranges) {
    for (std::uint64_t at = range.begin; at < range.end;) {
      const std::size_t length = piece(at, range.end, buffer.size());
      places.read(at, buffer.data(), length);
      const auto end = buffer.begin() + static_cast<std::ptrdiff_t>(length);
      const auto found = std::find_if(buffer.begin(), end, [](char byte) { return byte != 0; });
      if (found != end) return at + static_cast<std::uint64_t>(found - buffer.begin());
      at += length;
    }
  }
  return std::nullopt;
}

void make_blank(int fd, const std::string& node) {
  static const std::array<char, block_bytes> zeros{};
  const Places places(fd, node, "wipe");
  places.announce();
  std::vector<char> buffer(chunk_bytes);
  for (auto range = places.ranges.rbegin(); range != places.ranges.rend(); ++range) {
    for (std::uint64_t end = range->end; end > range->begin;) {
      const std::size_t length = piece(range->begin, end, buffer.size());
      places.read(end - length, buffer.data(), length);
      // Only what is not zero already: zeros would fill the holes of an image.
      for (std::size_t left = length; left > 0;) {
        const std::size_t part = left % block_bytes != 0 ? left % block_bytes : block_bytes;
        left -= part;
        if (is_zero(buffer.data() + left, part)) continue;
        const std::uint64_t offset = end - length + left;
        errno = 0;
        if (pwrite(fd, zeros.data(), part, static_cast<off_t>(offset)) != static_cast<ssize_t>(part)) {
          places.fail(fmt::format("zeros cannot be written at byte {}", offset));
        }
      }
      end -= length;
    }
  }
}

}  // namespace mongo
