#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "phases/phase.h"
#include "phases/support/current_path.h"
#include "phases/support/operations.h"

namespace mongo::phases {

/// The directory of a second tree that is at the same place as the one in which a walk is. It is open, and no more of
/// the second tree than that.
class Mirror {
 public:
  /// `top` is the second tree's own directory below the mount point. The clock is the walk's.
  Mirror(const Context& context, LatencyClock& clock, std::string top)
      : mount_fd_(context.mount_fd),
        top_(std::move(top)),
        path_(context.mount_path),
        operations_(*context.counters, clock, path_) {
    operations_.set_directory(mount_fd_);
  }
  ~Mirror() { go_to(mount_fd_); }
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  /// Names are relative to the current directory of the second tree.
  Operations& operations() { return operations_; }

  /// What a directory that the walk has just met is called here.
  const char* name_of(const char* met) const { return depth_ == 0 ? top_.c_str() : met; }

  /// Follows the walk into a directory; false, and counted, when that fails.
  bool enter(const char* met) {
    const char* const name = name_of(met);
    const int fd = operations_.open_directory(name);
    if (fd < 0) {
      return false;
    }
    go_to(fd);
    path_.enter(name);
    ++depth_;
    return true;
  }

  /// Follows the walk out of a directory. When there is no way up, the descriptor is -1 from here on, and every call in
  /// it fails and is counted.
  void leave() {
    --depth_;
    go_to(depth_ == 0 ? mount_fd_ : operations_.open_directory(".."));
    path_.leave();
  }

 private:
  void go_to(int fd) {
    if (operations_.directory() != mount_fd_ && operations_.directory() >= 0) {
      operations_.close(operations_.directory(), "");
    }
    operations_.set_directory(fd);
  }

  int mount_fd_;
  std::string top_;
  CurrentPath path_;
  Operations operations_;
  std::uint64_t depth_ = 0;
};

}  // namespace mongo::phases
