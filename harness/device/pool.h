#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/process/runner.h"

namespace mongo {

/// A ZFS pool on one device, with the commands that a driver has for it.
struct PoolPlan {
  using Argv = std::vector<std::string>;
  std::string name;        // unique: "mongo-" and a UUID of make_uuid
  std::string node;        // the device
  std::string point;       // where it is mounted, absolute
  std::string mount_type;  // in the mount table: "zfs" or "fuse.zfs"
  Argv create, destroy, export_pool, import_pool, sync, properties;
  /// Ends the daemon that has the pool, and starts it again without. Empty where there is no daemon.
  std::function<void()> restart_daemon = {};
};

/// The life of a pool. Note the step in the journal (JournalStep::Kind::pool) before create().
class Pool {
 public:
  /// runner: for what may be interrupted. What undoes is not.
  Pool(ProcessRunner& runner, PoolPlan plan) : runner_(runner), plan_(std::move(plan)) {}

  /// Makes the pool, which mounts it, and makes sure of that. Returns the mount options in force. Throws RunError with
  /// step "mkfs" or "mount"; destroy() undoes what was done.
  std::string create();
  /// Unmounts and lets go of the device: all data is on it then, and nothing is left in any cache of ZFS. Throws
  /// RunError("unmount", ...), and the pool is still mounted, or RunError("export", ...).
  void export_pool(std::chrono::milliseconds patience);
  /// Finds the exported pool on its device and mounts it. Returns the mount options in force. Throws RunError("import",
  /// ...) or RunError("mount", ...).
  std::string import_pool();
  /// Returns when everything that was written is on the device. Costs 15 to 25 ms where nothing was left to be written.
  /// sync(2) and syncfs(2) do not wait on zfs-fuse. Throws RunError("sync", ...).
  void sync();
  /// What figures depend on: {"compression", "off"}, {"recordsize", "128K"}, ... Throws RunError("properties", ...).
  std::vector<std::pair<std::string, std::string>> properties();
  /// Unmounts the pool, takes it away and wipes its labels off the device, so that nobody takes them for a pool. A
  /// daemon that does not let go of it is started again. Does nothing when there is none of that name. Throws
  /// RunError("unmount", ...), RunError("destroy", ...) or RunError("wipe", ...).
  void destroy(std::chrono::milliseconds patience);

  const PoolPlan& plan() const { return plan_; }

 private:
  std::string effective_options() const;
  void unmount(std::chrono::milliseconds patience) const;
  CommandResult run_while_busy(ProcessRunner& runner, const PoolPlan::Argv& argv, std::chrono::milliseconds patience);

  ProcessRunner& runner_;
  PoolPlan plan_;
};

/// The pool is imported here, as `zpool list` says. No when nobody answers. Throws RunError("destroy", ...) when it
/// cannot be told.
bool pool_is_imported(ProcessRunner& runner, const std::string& name);

/// One of the four labels of the device or file names the pool. Also where they are damaged or half written, so that
/// libblkid sees nothing. No when it cannot be read.
bool carries_pool_label(const std::string& node, const std::string& name);

/// Wipes the device if it carries that pool's label and no signature of anything else. Returns whether it did. Throws
/// RunError("wipe", ...), RunError("probe", ...).
bool wipe_pool(const std::string& node, const std::string& name);

}  // namespace mongo
