#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/core/quote.h"
#include "harness/core/trim.h"

// Reading /proc and /sys without losing the errno: whether a file is missing or unreadable decides between "not in use"
// and "cannot tell". Private to harness/device.

namespace mongo::devio {

/// A file descriptor that is closed at the end of its scope.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor() { reset(); }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

/// What was read, or the errno that kept it from being read (0 when it was).
struct FileText {
  int error = 0;
  std::string text;
};

/// The whole of a file, at most 64 MiB.
FileText read_file(const std::string& path);

/// readlink(2).
FileText read_link(const std::string& path);

/// realpath(3). Unlike boost's canonical() it needs no current directory for an absolute path.
FileText real_path(const std::string& path);

struct Names {
  int error = 0;
  std::vector<std::string> names;  // sorted, without "." and ".."
};
Names list_names(const std::string& path);

/// Words separated by blanks and tabs.
std::vector<std::string> words_of(const std::string& line);
std::vector<std::string> lines_of(const std::string& text);

/// The \ooo escapes of /proc/mounts, /proc/swaps and mountinfo undone. Source: proc(5), mangle_path() in fs/seq_file.c.
std::string unescape_octal(const std::string& text);

using mongo::printable;
using mongo::trimmed;

}  // namespace mongo::devio
