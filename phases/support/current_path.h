#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace mongo::phases {

/// The path of the directory that a phase is working in, for error messages and for the targets of symbolic links.
/// It is kept up to date once a directory, so that nothing need be put together for a file. No limit of length.
class CurrentPath {
 public:
  /// At first the root of the file system under test, which is mounted there.
  explicit CurrentPath(std::string_view mount_path) : path_(mount_path) {
    while (!path_.empty() && path_.back() == '/') {
      path_.pop_back();
    }
    mount_length_ = path_.size();
  }

  void enter(const char* name) {
    path_ += '/';
    path_ += name;
  }

  /// Back to the parent. Not below the mount point.
  void leave() { path_.resize(path_.rfind('/')); }

  void return_to_mount_point() { path_.resize(mount_length_); }

  /// Below the mount point and without a slash at either end; empty for the mount point itself.
  const char* relative() const { return path_.c_str() + mount_length_ + (path_.size() > mount_length_ ? 1 : 0); }

  /// The name of the current directory in its parent; valid until the next change.
  const char* name() const { return path_.c_str() + path_.rfind('/') + 1; }

  /// The absolute path of an entry of the current directory; valid until the next call.
  const char* absolute_path_of(const char* name) {
    entry_.assign(path_);
    entry_ += '/';
    entry_ += name;
    return entry_.c_str();
  }

 private:
  std::string path_;
  std::string entry_;  // keeps its memory from one file to the next
  std::size_t mount_length_;
};

}  // namespace mongo::phases
