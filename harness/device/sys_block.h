#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace mongo {

/// Something in /proc or /sys that should be readable is not, so that the question asked has no answer.
struct CannotTell : std::runtime_error {
  CannotTell(const std::string& what, std::string where) : std::runtime_error(what), evidence(std::move(where)) {}
  std::string evidence;  // the file
};

/// "8:16"
std::string major_minor_text(dev_t device);

/// A disk or partition as /sys shows it. Source: Documentation/ABI/stable/sysfs-block.
struct SysBlock {
  dev_t rdev = 0;
  std::string name;    // "sda1"; '!' stands for '/' in node names
  std::string folder;  // /sys/dev/block/8:1 with links resolved, with the prefix of a made-up tree
  bool partition = false;
  std::string node() const;  // "/dev/sda1"
};

/// Block devices in the /sys of a root. All functions throw CannotTell.
class SysBlocks {
 public:
  explicit SysBlocks(std::string root);

  SysBlock find(dev_t device) const;
  /// The disk that a partition is part of; nothing for a disk.
  std::optional<SysBlock> disk_of(const SysBlock& block) const;
  std::vector<SysBlock> partitions_of(const SysBlock& block) const;
  /// Whether two partitions of one disk share sectors, as a BSD slice and the partitions in it do.
  bool overlap(const SysBlock& a, const SysBlock& b) const;
  /// "dm-0 (vg-root)", "md0 (raid1)": what stands on the device.
  std::vector<std::string> holders_of(const SysBlock& block) const;
  bool read_only(const SysBlock& block) const;
  /// Loop devices with a file attached.
  std::vector<SysBlock> attached_loops() const;
  /// The path of the file behind a loop device as the kernel tells it; nothing when there is none.
  std::optional<std::string> backing_file(const SysBlock& block) const;
  /// A one-line file below the device's folder, "" when it is missing. For names and such, never for decisions.
  std::string text(const SysBlock& block, const std::string& file) const;
  const std::string& root() const { return root_; }

 private:
  SysBlock look(const std::string& folder) const;
  std::uint64_t number(const SysBlock& block, const std::string& file) const;
  std::string root_;  // without a slash at the end
};

}  // namespace mongo
