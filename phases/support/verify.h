#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "phases/phase.h"
#include "phases/support/current_path.h"
#include "phases/support/operations.h"
#include "phases/support/walk.h"

namespace mongo::phases {

/// Counts that a file is not as it should be: "NAME WHAT" of the current directory becomes the error's path.
void count_difference(Operations& operations, const char* name, const std::string& what);
void count_wrong_size(Operations& operations, const char* name, std::uint64_t found, std::uint64_t expected);

/// The same of the directory that the walk is in: "PATH WHAT".
void count_difference_here(Counters& counters, const CurrentPath& path, const std::string& what);

/// Whether there is something of this name and kind (S_IFREG, ...). Counted as a difference if not: as missing, or with
/// the words for another kind. What lstat(2) said is in status, if given.
bool find_kind(Operations& operations, const char* name, mode_t kind, const char* other_kind,
               struct stat* status = nullptr);
bool find_directory(Operations& operations, const char* name);

/// A text from the disk, such as a link's target, for a message: its end when it is long, and only what can be printed.
std::string shown(std::string_view text);

/// Compares files with what they should hold.
class Comparison {
 public:
  static constexpr std::size_t piece_size = 65536;

  /// Pieces of at most piece_size and `largest_piece` bytes are compared at a time.
  explicit Comparison(std::size_t largest_piece = piece_size) : size_(std::min(largest_piece, piece_size)) {}

  /// Whether the file has this size and these bytes. expected(length) gives the next bytes, or null when they are not
  /// known, for which it has counted an error. The first difference is counted.
  template <class Expected>
  bool file(Operations& operations, const char* name, std::uint64_t size, Expected expected) {
    struct stat status;
    if (!find_kind(operations, name, S_IFREG, "is not a regular file", &status)) {
      return false;
    }
    if (static_cast<std::uint64_t>(status.st_size) != size) {
      count_wrong_size(operations, name, static_cast<std::uint64_t>(status.st_size), size);
      return false;
    }
    const int fd = operations.open_file(name);
    if (fd < 0) {
      return false;
    }
    const bool same = open_file(operations, fd, name, size, expected);
    return operations.close(fd, name) && same;
  }

 private:
  template <class Expected>
  bool open_file(Operations& operations, int fd, const char* name, std::uint64_t size, Expected& expected) {
    for (std::uint64_t offset = 0;;) {
      const ssize_t got = operations.read(fd, buffer_.get(), size_, name);
      if (got < 0) {
        return false;
      }
      const auto length = static_cast<std::size_t>(got);
      // The size that lstat(2) tells and what can be read may differ on a damaged file system.
      if (length == 0 || offset + length > size) {
        if (length == 0 && offset == size) {
          return true;
        }
        count_wrong_size(operations, name, offset + length, size);
        return false;
      }
      const char* const right = expected(length);
      if (right == nullptr) {
        return false;
      }
      const char* const end = buffer_.get() + length;
      const char* const wrong = std::mismatch(buffer_.get(), buffer_.get() + length, right).first;
      if (wrong != end) {
        count_difference(operations, name,
                         "at byte " + std::to_string(offset + static_cast<std::size_t>(wrong - buffer_.get())));
        return false;
      }
      operations.count_read(got);
      offset += length;
    }
  }

  std::size_t size_;
  std::unique_ptr<char[]> buffer_ = std::make_unique<char[]>(piece_size);
};

/// Whether testdirWHICH-R-P is the tree that create makes: every file is there under its name with the suffix, has its
/// size and its bytes, and no other file or directory is there. Of links and the like it takes no notice.
/// Throws what outline_tree throws, and std::invalid_argument without Context::content.
void verify_tree(Context& context, int which, const std::string& suffix = "",
                 Walk::Absent absent = Walk::Absent::is_an_error);

}  // namespace mongo::phases
