#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace mongo {

/// Gives this process and its children mount tables of their own. Their mounts are seen by nobody else and vanish with
/// the last of them; what others unmount is unmounted here too. Throws RunError("mount namespace", ...).
void enter_private_mount_namespace();

/// A directory to mount on. It must be missing (then it is made, and removed at the end) or an empty directory without
/// a mount.
class MountPoint {
 public:
  /// Looks only. Throws DeviceRefused with the reason.
  static MountPoint check(const std::string& path);
  const std::string& path() const { return path_; }  // absolute, links resolved
  bool missing() const { return missing_; }
  /// Makes the directory if it is missing. It comes into being under a name that holds run_id, and gets its own name
  /// when `note` has been told what it is, so that a killed run's directory can be known for certain. `note` is called
  /// before each step. Throws RunError("mount", ...).
  using Note = std::function<void(const std::string& path, dev_t device, ino_t inode)>;
  void make(const std::string& run_id = "", const Note& note = {});
  /// Removes the directory if make() made it; rmdir only. Returns the reason if it could not.
  std::string remove();

 private:
  std::string path_;
  bool missing_ = false;
  bool made_ = false;
};

struct MountRequest {
  std::string device, type, options, point;
};

/// The library that mounts, e.g. "libmount 2.38.1".
std::string mount_version();

/// Mounts with libmount and makes sure of it: the mount point has another st_dev than before, the mount table names the
/// device and the type. Returns the options in force. Throws RunError("mount", ...) with the kernel's last log line
/// where readable, and nothing is mounted then.
std::string mount_filesystem(const MountRequest& request);

/// Unmounts; retries while it is busy, for as long as patience allows. Throws RunError("unmount", ...) that names the
/// processes (pid and program) that hold it.
void unmount_filesystem(const std::string& point, std::chrono::milliseconds patience);

}  // namespace mongo
