#pragma once

#include <memory>
#include <string>

#include "harness/device/pool.h"
#include "harness/device/zfs.h"
#include "harness/device/zfs_daemon.h"
#include "harness/run/run_context.h"

namespace mongo {

/// The pool of a run on a file system that is made, mounted and taken away by commands about its pool. A daemon that it
/// needs is started with the first pool, as a lease of the run. Part of Target.
class PoolTarget {
 public:
  explicit PoolTarget(RunContext& context) : context_(context) {}

  /// Finds out what runs it here, and starts a daemon where that is one. Throws RunError.
  void start();
  /// The command that makes the pool, for the record.
  std::vector<std::string> create_argv(const std::string& node, const std::string& uuid) const;
  /// Makes the pool, which mounts it. Returns the mount options in force. Throws RunError.
  std::string create(const std::string& node, dev_t device, const std::string& uuid);
  /// Unmounts, and lets go of the device. Throws RunError; with step "unmount" it is still mounted.
  void export_pool();
  std::string import_pool();
  /// Takes the pool away, if there is one. Throws RunError.
  void destroy();
  /// Throws RunError("sync", ...).
  void sync();

 private:
  fsdrivers::PoolRequest request(const std::string& node, const std::string& uuid) const;

  RunContext& context_;
  ZfsImplementation implementation_;
  std::unique_ptr<ZfsDaemon> daemon_;
  std::unique_ptr<Pool> pool_;
};

}  // namespace mongo
