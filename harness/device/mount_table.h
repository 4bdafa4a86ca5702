#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace mongo {

/// One line of /proc/PID/mountinfo, escapes undone. Source: proc(5).
struct MountEntry {
  int id = 0;
  dev_t device = 0;  // anonymous (major 0) for btrfs, zfs, overlay and the like
  std::string root;
  std::string point;
  std::string vfs_options;
  std::string type;
  std::string source;
  std::string fs_options;
};

/// Reads a whole mountinfo. Throws std::invalid_argument with the first line that it cannot read: a table that is
/// only half understood must not pass for one without the mount that was looked for.
std::vector<MountEntry> parse_mountinfo(const std::string& text);

/// The mount that is seen at the point, that is the last one made there; nullptr if none.
const MountEntry* mounted_at(const std::vector<MountEntry>& table, const std::string& point);

/// The mount that a path lies on; nullptr if none.
const MountEntry* mount_of_path(const std::vector<MountEntry>& table, const std::string& path);

/// "rw,noatime,errors=remount-ro": those of the mount and those of the file system, none twice; ro if either says so.
std::string effective_options(const MountEntry& entry);

}  // namespace mongo
