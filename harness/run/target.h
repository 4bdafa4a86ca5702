#pragma once

#include <functional>
#include <memory>
#include <string>

#include "harness/core/descriptor.h"
#include "harness/device/run_lock.h"
#include "harness/device/guard.h"
#include "harness/device/loop.h"
#include "harness/run/mounted_filesystem.h"
#include "harness/run/pool_target.h"
#include "harness/run/run_context.h"

namespace mongo {

/// The device of a run and the file system on it. Every step that must be undone goes into the run's leases and journal
/// before it acts.
class Target : public MountedFilesystem {
 public:
  explicit Target(RunContext& context);

  /// Attaches a loop device where one is asked for, takes the lock, then lets the guard look at the device. Throws
  /// DeviceRefused, RunError.
  void open();

  /// Looks at the device once more, wipes its signatures and makes the file system. Throws DeviceRefused, RunError.
  void format(PassRecord& pass);

  /// Mounts what was formatted. Throws RunError("mount", ...).
  void mount();

  /// Unmounts, and takes a pool away; does nothing when nothing is mounted. Throws RunError.
  void unmount();

  void remount() override;
  int root_fd() const override { return root_.get(); }
  std::string major_minor() const override { return block_.major_minor(); }
  SyncResult sync() override;
  int drop_caches() override;
  /// Throws out what the kernel holds of a device that is not mounted, and of the file behind it. Throws RunError.
  void forget_cached_blocks();
  const std::string& node() const { return block_.resolved; }

 private:
  BlockDevice look_up() const;
  void attach();
  void describe_device();
  void require_unused(const BlockDevice& device);
  void require_same_device(const BlockDevice& now) const;
  void run_mkfs(PassRecord& pass);
  void again_while_busy(const std::function<void()>& step);
  void open_root();

  RunContext& context_;
  BlockDevice block_;
  std::string uuid_;
  std::string path_;  // the device as given, or the loop device's node
  std::unique_ptr<Guard> guard_;
  std::unique_ptr<RunLock> lock_;
  std::unique_ptr<LoopDevice> loop_;
  std::unique_ptr<PoolTarget> pool_;  // null for file systems that mkfs makes
  Descriptor root_;
};

}  // namespace mongo
