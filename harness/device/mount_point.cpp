#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "harness/core/errors.h"
#include "harness/device/mount.h"
#include "harness/device/mount_table.h"
#include "harness/device/system_files.h"

namespace mongo {

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& what, const std::string& advice) {
  throw DeviceRefused(fmt::format("refusing to mount on '{}': it {}. {}", devio::printable(path), what, advice));
}

// Whether a directory can be made in the folder. Root is denied nothing but what the file system itself denies.
void check_can_be_made(const std::string& path, const std::string& folder) {
  int error = faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
  struct statfs system {};
  // The kernel's own trees let root pass and then make nothing.
  if (error == 0 && statfs(folder.c_str(), &system) == 0 &&
      (system.f_type == PROC_SUPER_MAGIC || system.f_type == SYSFS_MAGIC)) {
    error = EPERM;
  }
  if (error == 0) return;
  refuse(path, fmt::format("does not exist and cannot be made in {}: {}", devio::printable(folder), errno_text(error)),
         "Make the directory by hand, or name another.");
}

// The path that a missing directory will have. Its parent must be there.
std::string resolve_missing(const std::string& path) {
  std::string plain = path;
  while (plain.size() > 1 && plain.back() == '/') plain.pop_back();
  const std::size_t slash = plain.find_last_of('/');
  const std::string name = slash == std::string::npos ? plain : plain.substr(slash + 1);
  const std::string parent = slash == std::string::npos ? "." : slash == 0 ? "/" : plain.substr(0, slash);
  struct stat link {};
  if (lstat(plain.c_str(), &link) == 0) {
    refuse(path, "is a symbolic link that leads nowhere", "Make the directory that it leads to, or name another.");
  }
  if (errno == ENAMETOOLONG) refuse(path, "has a name that is too long", "Choose a shorter one.");
  const std::string folder = devio::real_path(parent).text;
  if (folder.empty()) {
    refuse(path, fmt::format("does not exist, and neither does the directory for it ({})", devio::printable(parent)),
           "Make the directory first.");
  }
  if (name == "." || name == "..") refuse(path, "does not exist", "Make the directory first.");
  check_can_be_made(path, folder);
  return folder == "/" ? folder + name : folder + "/" + name;
}

void check_no_mount(const std::string& given, const std::string& path) {
  const devio::FileText text = devio::read_file("/proc/self/mountinfo");
  if (text.error != 0) {
    refuse(given, "cannot be looked up in /proc/self/mountinfo: " + errno_text(text.error), "Is /proc mounted?");
  }
  try {
    const std::vector<MountEntry> table = parse_mountinfo(text.text);
    const MountEntry* entry = mounted_at(table, path);
    if (entry == nullptr) return;
    refuse(given, fmt::format("carries a mount already: {} ({})", devio::printable(entry->source), entry->type),
           "Unmount it or name another directory; it is left as it is.");
  } catch (const std::invalid_argument& error) {
    refuse(given,
           fmt::format("cannot be looked up in /proc/self/mountinfo, a line of it cannot be read: {}", error.what()),
           "Nothing was touched.");
  }
}

}  // namespace

MountPoint MountPoint::check(const std::string& path) {
  if (path.empty())
    throw DeviceRefused("refusing to mount on '': the name of the mount point is empty. Name a directory.");
  if (path.find('\0') != std::string::npos) {
    throw DeviceRefused("refusing to mount on a path with a NUL byte. Name a directory.");
  }
  if (path.size() >= PATH_MAX)
    refuse(path.substr(0, 60) + "...", "is longer than 4095 bytes", "Choose a shorter path.");
  MountPoint point;
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    if (errno == ENOTDIR) refuse(path, "lies below a file, not a directory", "Name a directory.");
    if (errno != ENOENT) refuse(path, "cannot be looked at: " + errno_text(errno), "Name another directory.");
    point.path_ = resolve_missing(path);
    point.missing_ = true;
  } else {
    if (!S_ISDIR(info.st_mode)) refuse(path, "is a file, not a directory", "Name an empty or missing directory.");
    const devio::FileText real = devio::real_path(path);
    if (real.error != 0) refuse(path, "cannot be resolved: " + errno_text(real.error), "Name another directory.");
    point.path_ = real.text;
  }
  if (point.path_.size() >= PATH_MAX) refuse(path, "leads to a path longer than 4095 bytes", "Choose a shorter path.");
  if (point.path_ == "/") refuse(path, "is the root directory", "Name an empty or missing directory.");
  check_no_mount(path, point.path_);
  if (point.missing_) return point;
  const devio::Names names = devio::list_names(point.path_);
  if (names.error != 0) refuse(path, "cannot be listed: " + errno_text(names.error), "Name another directory.");
  if (!names.names.empty()) {
    refuse(path,
           fmt::format("is not empty: it holds '{}'{}", devio::printable(names.names.front()),
                       names.names.size() > 1 ? fmt::format(" and {} more", names.names.size() - 1) : ""),
           "Name an empty or missing directory.");
  }
  return point;
}

void MountPoint::make(const std::string& run_id, const Note& note) {
  if (!missing_ || made_) return;
  if (note) {
    const std::string passing = path_.substr(0, path_.rfind('/') + 1) + ".mongo-" + run_id;
    note(passing, 0, 0);
    struct stat info {};
    if (mkdir(passing.c_str(), 0755) == 0 && lstat(passing.c_str(), &info) == 0) {
      note(path_, info.st_dev, info.st_ino);
      made_ = renameat2(AT_FDCWD, passing.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0;
      if (made_) return;
      // A file system without RENAME_NOREPLACE, or somebody made the directory meanwhile: mkdir will tell.
      rmdir(passing.c_str());
    }
  }
  if (mkdir(path_.c_str(), 0755) != 0) {
    throw RunError("mount", fmt::format("the directory '{}' cannot be made: {}. Make it by hand or name another.",
                                        devio::printable(path_), errno_text(errno)));
  }
  made_ = true;
}

std::string MountPoint::remove() {
  if (!made_) return {};
  if (rmdir(path_.c_str()) != 0 && errno != ENOENT) {
    return fmt::format("the directory '{}' cannot be removed: {}", devio::printable(path_), errno_text(errno));
  }
  made_ = false;
  return {};
}

namespace {

[[noreturn]] void fail_to_enslave(int error) {
  throw RunError("mount namespace",
                 fmt::format("the mounts cannot be made slaves of those outside: {}", errno_text(error)));
}

}  // namespace

void enter_private_mount_namespace() {
  if (unshare(CLONE_NEWNS) != 0) {
    throw RunError("mount namespace", fmt::format("unshare(CLONE_NEWNS) failed: {}. Run as root; a container needs "
                                                  "CAP_SYS_ADMIN.",
                                                  errno_text(errno)));
  }
  // Slave, not private: an unmount outside reaches this side too, so that the run keeps nobody's disk busy.
  if (mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0) return;
  const int error = errno;
  // EINVAL: "/" is no mount, as in a chroot. Then those that can be seen, one by one. The one that "/" lies on stays as
  // it is: where it is shared (systemd makes it so), the run's mount is seen outside too, and is undone like everything
  // else.
  if (error != EINVAL) fail_to_enslave(error);
  for (const MountEntry& entry : parse_mountinfo(devio::read_file("/proc/self/mountinfo").text)) {
    if (mount("none", entry.point.c_str(), nullptr, MS_SLAVE, nullptr) != 0 && errno != EINVAL && errno != ENOENT) {
      fail_to_enslave(errno);
    }
  }
}

}  // namespace mongo
