#pragma once

#include <memory>
#include <string>

namespace mongo {

/// The right of one run to act on a device, whatever the device is called, or on a mount point. Held until destroyed;
/// the kernel releases it when the process dies. A file in /run/lock/mongo (or where `folder` says) carries a flock(2)
/// and the holder's pid.
class RunLock {
 public:
  static constexpr const char* default_folder = "/run/lock/mongo";

  /// The lock file of a device.
  static std::string path_of(unsigned major, unsigned minor, const std::string& folder = default_folder);
  /// The lock file of a mount point, which may be missing; links followed.
  static std::string path_of(const std::string& mount_point, const std::string& folder = default_folder);

  /// what: for the message, as "device 8:16". Throws DeviceRefused that names the pid of the run that holds it,
  /// RunError("lock", ...) when it cannot be had otherwise.
  static std::unique_ptr<RunLock> take(const std::string& path, const std::string& what);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  RunLock(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  int fd_;
  std::string path_;
};

}  // namespace mongo
