#pragma once

#include <memory>
#include <string>

namespace mongo {

/// The right of one run to act on a device, by device number, whatever the device is called. Held until destroyed; the
/// kernel releases it when the process dies. A file in /run/lock/mongo (or where `folder` says) carries a flock(2) and
/// the holder's pid.
class DeviceLock {
 public:
  /// The lock file of a device.
  static std::string path_of(unsigned major, unsigned minor, const std::string& folder = "/run/lock/mongo");
  /// Throws DeviceRefused that names the pid of the run that holds it, RunError("lock", ...) when it cannot be had
  /// otherwise.
  static std::unique_ptr<DeviceLock> take(unsigned major, unsigned minor,
                                          const std::string& folder = "/run/lock/mongo");
  ~DeviceLock();
  DeviceLock(const DeviceLock&) = delete;
  DeviceLock& operator=(const DeviceLock&) = delete;

 private:
  DeviceLock(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  int fd_;
  std::string path_;
};

}  // namespace mongo
