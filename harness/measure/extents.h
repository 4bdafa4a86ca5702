#pragma once

#include <linux/fiemap.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace mongo {

/// What the extents of one file say. Fragments: maximal runs of physically and logically adjacent data.
struct FileExtents {
  std::uint64_t fragments = 0;
  std::uint64_t shared = 0;  // extents used by another file too; they are data and part of the fragments
  std::uint64_t encoded =
      0;  // compressed or encrypted: their physical length is not told, so no fragments can be counted
  std::uint64_t unwritten = 0;    // preallocated, no data
  std::uint64_t inline_data = 0;  // inside the inode or a tail: no block of its own
  std::uint64_t delayed = 0;      // not yet placed
};

/// How many files have how many fragments. Constant memory: the buckets begin at 0, 1, 2, 3, 5, 9, 17, ...
class FragmentHistogram {
 public:
  void add(std::uint64_t fragments);
  /// The smallest number of fragments of each bucket that is not empty, ascending, and its files.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> buckets() const;

 private:
  std::array<std::uint64_t, 66> files_{};
};

/// Counts fragments of one file from its extents, given in logical order.
/// Source of the flags: Documentation/filesystems/fiemap.rst, linux/fiemap.h.
class ExtentCounter {
 public:
  void add(const fiemap_extent& extent);
  const FileExtents& result() const { return result_; }

 private:
  FileExtents result_;
  bool open_ = false;  // a fragment ends at the two positions below
  std::uint64_t logical_end_ = 0;
  std::uint64_t physical_end_ = 0;
};

/// Reads a file's extents with as many FS_IOC_FIEMAP calls as it takes, `buffer` extents a call (at least 1).
class ExtentReader {
 public:
  explicit ExtentReader(unsigned buffer = 512);
  /// Returns 0, or the errno of the call: EOPNOTSUPP or ENOTTY where the file system has no FIEMAP.
  /// flags: FIEMAP_FLAG_SYNC for a file that may not be on disk yet, else 0.
  int read(int fd, std::uint32_t flags, FileExtents& result);

 private:
  unsigned buffer_;
  std::vector<std::uint64_t> memory_;
};

}  // namespace mongo
