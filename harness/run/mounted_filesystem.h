#pragma once

#include <chrono>
#include <string>

#include "harness/core/descriptor.h"
#include "harness/measure/space.h"

namespace mongo {

/// How long an unmount is tried again while something keeps the file system busy.
inline constexpr std::chrono::seconds unmount_patience{30};

/// The root of what is mounted there, O_DIRECTORY. Throws RunError("mount", ...).
Descriptor open_mount_root(const std::string& point);

/// A file system under test while the phases work on it.
class MountedFilesystem {
 public:
  virtual ~MountedFilesystem() = default;
  /// Its root, O_DIRECTORY; -1 when it is not mounted. Another one after a remount.
  virtual int root_fd() const = 0;
  /// Of the device whose counters tell what it did, "7:0"; empty where there is none.
  virtual std::string major_minor() const = 0;
  /// Unmounts, throws out what is cached of the device, and mounts again. Throws RunError; where root_fd() is not -1
  /// then, it is still mounted.
  virtual void remount() = 0;
  /// Brings all that was written to the device.
  virtual SyncResult sync() { return sync_filesystem(root_fd()); }
  /// Throws clean pages out of memory. Returns 0 or an errno.
  virtual int drop_caches() = 0;
};

}  // namespace mongo
