#pragma once

#include <string>

#include "harness/process/runner.h"

namespace mongo {

/// What can run ZFS on this host.
struct ZfsImplementation {
  enum class Kind { none, openzfs, zfs_fuse };
  Kind kind = Kind::none;
  std::string version;  // "zfs-2.1.11-1, zfs-kmod-2.1.11-1", "zfs-fuse 0.7.0-25+b1"; at least the name
  std::string why_not;  // with none: what is missing, and what to install
  /// How its mounts show in the mount table.
  std::string mount_type() const { return kind == Kind::zfs_fuse ? "fuse.zfs" : "zfs"; }
};

/// Finds out by asking: a zpool program in PATH does not mean that ZFS works. OpenZFS where its kernel module answers;
/// else zfs-fuse where its programs and /dev/fuse are there, because this tool starts a daemon of its own. load_module:
/// asks for the module zfs (modprobe) where it is missing; else nothing is changed. root: a prefix for /sys and /dev.
/// Throws nothing of its own.
ZfsImplementation find_zfs(ProcessRunner& runner, bool load_module, const std::string& root = "/");

}  // namespace mongo
