#include "phases/support/walk.h"

#include <algorithm>
#include <cstring>

namespace mongo::phases {

Walk::Walk(const Context& context)
    : mount_fd_(context.mount_fd),
      own_files_(context.own_files),
      path_(context.mount_path),
      clock_(context.latencies),
      operations_(*context.counters, clock_, path_) {
  levels_.reserve(open_levels);
}

Walk::~Walk() { give_up(); }

bool Walk::is_own_file(const char* name) const {
  return whole_ && levels_.size() == 1 && std::find(own_files_.begin(), own_files_.end(), name) != own_files_.end();
}

bool Walk::go_to_mount_point() {
  path_.return_to_mount_point();
  return operations_.change_directory(mount_fd_, ".");
}

bool Walk::open_root() {
  const int fd = operations_.open_directory(".");
  if (fd < 0) {
    return false;
  }
  whole_ = true;
  push_level(fd, 0);
  return true;
}

bool Walk::descend(const char* name, int repeats, Absent absent) {
  const int fd = operations_.open_directory(name, absent == Absent::is_fine);
  if (fd < 0) {
    return false;
  }
  if (!operations_.change_directory(fd, name)) {
    operations_.close(fd, name);
    return false;
  }
  path_.enter(name);
  push_level(fd, repeats);
  return true;
}

void Walk::push_level(int fd, int repeats) {
  const std::size_t depth = levels_.size();
  if (depth >= open_levels) {
    Level& farthest = levels_[depth - open_levels];
    if (farthest.fd >= 0) {
      operations_.close(farthest.fd, "..");
      farthest.fd = -1;
    }
  }
  levels_.push_back({fd, 0, 0, 0, static_cast<std::int16_t>(repeats), false});
  use_buffer_of(depth);
}

void Walk::use_buffer_of(std::size_t depth) {
  std::unique_ptr<char[]>& buffer = buffers_[depth % open_levels];
  if (!buffer) {
    buffer = std::make_unique<char[]>(buffer_size);
  }
  buffer_ = buffer.get();
}

bool Walk::refill(Level& level) {
  if (level.fd < 0) {
    return false;
  }
  const long got = operations_.read_directory(level.fd, buffer_, buffer_size);
  if (got <= 0) {
    level.trouble = level.trouble || got < 0;
    return false;
  }
  level.position = 0;
  level.end = static_cast<std::uint32_t>(got);
  return true;
}

/// Makes the parent the current directory and the last level. False when there is no way back to it: then the walk is
/// over, since names would mean something else.
bool Walk::ascend() {
  const Level left = levels_.back();
  levels_.pop_back();
  if (left.fd >= 0) {
    operations_.close(left.fd, "");
  }
  if (levels_.empty()) {
    if (whole_) {
      whole_ = false;
      return true;
    }
    path_.leave();
    return operations_.change_directory(mount_fd_, ".");
  }
  Level& parent = levels_.back();
  const bool is_open = parent.fd >= 0;
  if (is_open ? !operations_.change_directory(parent.fd, "..") : !operations_.change_directory("..")) {
    give_up();
    return false;
  }
  path_.leave();
  use_buffer_of(levels_.size() - 1);
  if (!is_open && !reopen(parent)) {
    parent.trouble = true;
  }
  return true;
}

/// Opens the current directory, whose descriptor and buffer had to serve deeper levels, where it was left off.
bool Walk::reopen(Level& level) {
  level.position = level.end = 0;
  level.fd = operations_.open_directory(".");
  if (level.fd < 0) {
    return false;
  }
  if (!operations_.seek_directory(level.fd, level.offset)) {
    operations_.close(level.fd, ".");
    level.fd = -1;
    return false;
  }
  return true;
}

void Walk::give_up() {
  for (const Level& level : levels_) {
    if (level.fd >= 0) {
      operations_.close(level.fd, "");
    }
  }
  levels_.clear();
  whole_ = false;
}

unsigned char Walk::type_of(const char* name) {
  struct stat status;
  if (is_dot_or_dot_dot(name)) {
    return DT_DIR;
  }
  if (!operations_.lstat(name, status)) {
    return DT_UNKNOWN;
  }
  return static_cast<unsigned char>(IFTODT(status.st_mode));
}

void Walk::keep_name(char* name, std::size_t size) const {
  std::strncpy(name, path_.name(), size - 1);
  name[size - 1] = '\0';
}

}  // namespace mongo::phases
