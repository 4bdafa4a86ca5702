#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/device/guard.h"
#include "harness/device/kernel_view.h"
#include "harness/device/mount_table.h"
#include "harness/device/processes.h"
#include "harness/device/sys_block.h"

// The questions that Guard::check asks, one function each. Private to harness/device.

namespace mongo {

/// The device itself, or another block device whose use is a use of it.
struct Relative {
  enum class Kind { self, partition, disk, backing };
  Kind kind;
  SysBlock block;
};

/// One look at one device. All questions throw CannotTell; an empty answer means "not so".
class DeviceUses {
 public:
  /// Finds the relatives: partitions of a disk, the disk of a partition and what overlaps it, the block device that a
  /// loop device stands on.
  DeviceUses(const GuardOptions& options, const std::shared_ptr<const KernelView>& kernel, const BlockDevice& device);

  std::optional<Refusal> changed() const;  // the name leads to another device than when it was looked up
  std::optional<Refusal> read_only() const;
  std::optional<Refusal> extended() const;
  std::optional<Refusal> swap() const;
  std::optional<Refusal> keeps() const;  // holds the running system or the results
  std::optional<Refusal> mounted() const;
  std::optional<Refusal> held() const;
  std::optional<Refusal> member() const;  // of a btrfs or bcache set in use
  std::optional<Refusal> loops() const;
  std::optional<Refusal> pools() const;
  std::optional<Refusal> writable() const;
  std::optional<Refusal> exclusive() const;
  std::optional<Refusal> writers() const;
  std::optional<Refusal> signatures() const;  // or data of no known kind

  /// A refusal about a relative: "is mounted on X" becomes "has the partition sdb1, which is mounted on X".
  Refusal refuse(Refusal::Reason reason, const Relative& relative, const std::string& what, const std::string& evidence,
                 const std::string& advice) const;
  Refusal refuse(Refusal::Reason reason, const std::string& what, const std::string& evidence,
                 const std::string& advice) const;

 private:
  struct Table {
    std::vector<MountEntry> entries;
    std::string evidence;  // the file
    std::string folder;    // "/proc/PID", without a prefix
    std::string where;     // " in the mount namespace of pid 7 (bash)", empty for the own one
  };
  void find_relatives();
  void add_relative(Relative::Kind kind, const SysBlock& block);
  void add_backing(Relative loop);
  const Relative* relative_with(dev_t device) const;
  const Relative* mounted_relative(const MountEntry& entry, const std::string& process) const;
  std::vector<Table> mount_tables() const;
  Table mount_table(const std::string& process, const std::string& where) const;
  std::optional<Refusal> btrfs_member() const;
  const Relative* swap_relative(const std::string& name, const std::string& type) const;
  std::string node_of(const Relative& relative) const;
  std::vector<std::string> imported_pools() const;

  const GuardOptions& options_;
  const KernelView& kernel_;
  BlockDevice device_;
  dev_t rdev_;
  SysBlocks blocks_;
  Processes processes_;
  std::vector<Relative> relatives_;
  struct OwnLoop {
    SysBlock block;
    LoopBacking backing;
  };
  std::vector<OwnLoop> own_loops_;  // the device, or its disk, when that is a loop device; and what is below
};

}  // namespace mongo
