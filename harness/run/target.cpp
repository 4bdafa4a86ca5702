#include "harness/run/target.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "harness/core/errors.h"
#include "harness/device/busy.h"
#include "harness/device/loop_facts.h"
#include "harness/device/mount.h"
#include "harness/device/queue.h"
#include "harness/device/signatures.h"
#include "harness/measure/cache.h"
#include "harness/run/mkfs_command.h"

namespace mongo {
namespace {

using namespace std::chrono_literals;

constexpr auto mkfs_deadline = 30min;  // discarding a large disk takes its time
constexpr auto busy_patience = 20s;
constexpr auto probe_patience = 10s;  // a udev probe after a format takes some 100 ms

}  // namespace

Target::Target(RunContext& context) : context_(context) {
  if (context.cell.driver->pool) pool_ = std::make_unique<PoolTarget>(context);
}

void Target::open() {
  path_ = context_.cell.device.path;
  context_.record.device.kind = "block";
  if (context_.cell.device.kind != DeviceSpec::Kind::block) attach();
  GuardOptions options;
  options.destroy = context_.cell.destroy;
  options.keep_paths = {context_.cell.results, "/proc/self/exe"};
  guard_ = std::make_unique<Guard>(options);
  block_ = look_up();
  if (!context_.cell.device_number.empty() && block_.major_minor() != context_.cell.device_number) {
    throw DeviceRefused(fmt::format("{} leads to the device {}, and not to {} as when the run began", block_.given,
                                    block_.major_minor(), context_.cell.device_number));
  }
  context_.journal->add({JournalStep::Kind::lock, RunLock::path_of(block_.major, block_.minor), "", 0, 0});
  lock_ = RunLock::take(RunLock::path_of(block_.major, block_.minor), "device " + block_.major_minor());
  // Before the loop device is detached: whoever gets it next must not find it locked.
  context_.leases.add("release the lock", [this] { lock_.reset(); });
  require_unused(block_);
  describe_device();
  uuid_ = make_uuid();
  MkfsRecord& mkfs = context_.record.mkfs;
  const fsdrivers::FilesystemDriver& driver = *context_.cell.driver;
  if (pool_) {
    pool_->start();
    mkfs.argv = pool_->create_argv(block_.resolved, uuid_);
    return;
  }
  mkfs.argv = mkfs_argv(context_.cell, block_.resolved, uuid_);
  if (driver.lazy_initialisation != nullptr) mkfs.lazy_initialisation = driver.lazy_initialisation(mkfs.argv);
}

/// The device under the name that the user knows, also where the tool has attached it.
BlockDevice Target::look_up() const {
  BlockDevice device = guard_->resolve(path_);
  device.given = context_.cell.device.given;
  return device;
}

void Target::attach() {
  const Cell& cell = context_.cell;
  LoopOptions options;
  options.preallocate = !cell.sparse;
  options.sector_size = cell.sector_size;
  loop_ = LoopDevice::attach(
      cell.device,
      [this](const std::string& node, dev_t file_device, ino_t inode) {
        context_.journal->add({JournalStep::Kind::loop, "", node, file_device, inode});
      },
      options);
  context_.leases.add("detach " + loop_->node(), [this] { loop_->detach(); });
  path_ = loop_->node();
  DeviceRecord& device = context_.record.device;
  device.kind = cell.device.kind == DeviceSpec::Kind::ram ? "ram" : "loop";
  device.backing = loop_->backing();
  device.direct_io = loop_->direct_io();
  device.backing_filesystem = loop_->backing_filesystem();
}

void Target::describe_device() {
  DeviceRecord& device = context_.record.device;
  device.resolved = block_.resolved;
  device.major_minor = block_.major_minor();
  device.size_bytes = block_.size_bytes;
  device.model = block_.model;
  device.serial = block_.serial;
  device.by_id = block_.by_id;
  if (device.backing.empty()) device.backing = block_.backing;
  if (device.kind == "block" && !block_.backing.empty()) device.kind = "loop";
  describe_queue(device.major_minor, device);
  if (device.kind == "loop" && !loop_) describe_foreign_loop(device);
}

/// The guard's check. Who merely has the device open exclusively is waited for: a udev probe after an unmount, or the
/// kernel that still writes back what a killed run left. All else is a refusal at once.
void Target::require_unused(const BlockDevice& device) {
  const auto start = std::chrono::steady_clock::now();
  bool said = false;
  while (true) {
    const std::optional<Refusal> refusal = guard_->check(device);
    const auto waited = std::chrono::steady_clock::now() - start;
    if (!refusal) {
      if (waited > 100ms) {
        context_.note(fmt::format("waited {:.1f} s until nobody else had {} open",
                                  std::chrono::duration<double>(waited).count(), device.resolved));
      }
      return;
    }
    if (refusal->reason != Refusal::Reason::busy || waited > busy_patience) throw DeviceRefused(refusal->text());
    context_.services.watch.check();
    if (!said && waited > 1s) {
      context_.services.observer.note(
          fmt::format("waiting for at most {} s: {}", busy_patience.count(), refusal->what));
      said = true;
    }
    std::this_thread::sleep_for(50ms);
  }
}

/// Programs that look at devices (udev, multipathd) open them exclusively for a moment whenever something has changed,
/// and nobody can keep them from doing so in the middle of a step. A step that fails because the device is busy is done
/// again, for a bounded time.
void Target::again_while_busy(const std::function<void()>& step) {
  const auto start = std::chrono::steady_clock::now();
  for (int attempt = 1;; ++attempt) {
    try {
      step();
      if (attempt > 1) {
        context_.note(fmt::format("{} attempts, because something had {} open", attempt, block_.resolved));
      }
      return;
    } catch (const RunError& error) {
      // The programs say it in words: LC_ALL is C.
      const std::string text = error.what();
      const bool busy = text.find("busy") != std::string::npos || text.find("in use") != std::string::npos;
      if (!busy || std::chrono::steady_clock::now() - start > busy_patience) throw;
    }
    context_.services.watch.check();
    std::this_thread::sleep_for(20ms);
  }
}

void Target::require_same_device(const BlockDevice& now) const {
  if (now.major == block_.major && now.minor == block_.minor && now.size_bytes == block_.size_bytes &&
      now.serial == block_.serial) {
    return;
  }
  throw DeviceRefused(
      fmt::format("{} leads to another device than at the start of the run: {} of {}, serial '{}', and not {} of {}, "
                  "serial '{}'. Name it by something that does not move, as below /dev/disk/by-id",
                  block_.given, now.major_minor(), format_rounded(ByteSize{now.size_bytes}), now.serial,
                  block_.major_minor(), format_rounded(ByteSize{block_.size_bytes}), block_.serial));
}

void Target::format(PassRecord& pass) {
  const BlockDevice now = look_up();
  require_same_device(now);
  require_unused(now);
  const std::vector<Signature> found = read_signatures(block_.resolved);
  RunRecord& record = context_.record;
  if (record.passes.empty() && !found.empty()) {
    record.device.destroyed = found;
    for (const Signature& signature : found) context_.note("destroyed: " + describe(signature));
  }
  again_while_busy([&] { wipe_signatures(block_.resolved); });
  if (!pool_) run_mkfs(pass);  // a pool is made when it is mounted
  if (loop_) {
    // mkfs has discarded the device, and with it the blocks of the file behind it.
    if (!context_.cell.sparse) loop_->preallocate_again();
    record.device.preallocated = loop_->preallocated();
  }
  wait_until_free(block_.resolved, probe_patience);
}

void Target::run_mkfs(PassRecord& pass) {
  MkfsRecord& mkfs = context_.record.mkfs;
  CommandResult result;
  try {
    again_while_busy([&] { result = run_checked(context_.services.runner, {mkfs.argv, mkfs_deadline}, "mkfs"); });
    pass.mkfs_seconds = result.seconds.count();
    const fsdrivers::FilesystemDriver& driver = *context_.cell.driver;
    if (driver.after_format != nullptr) {
      for (const std::vector<std::string>& argv :
           driver.after_format({block_.resolved, uuid_, context_.cell.mkfs_options})) {
        again_while_busy([&] { result = run_checked(context_.services.runner, {argv, mkfs_deadline}, "mkfs"); });
        pass.mkfs_seconds += result.seconds.count();
      }
    }
  } catch (...) {
    // Half a file system has no signature: left so, the device would be taken for somebody's data next time.
    try {
      wipe_signatures(block_.resolved);
    } catch (const RunError& error) {
      context_.note(std::string("what mkfs left could not be wiped: ") + error.what());
    }
    throw;
  }
  mkfs.seconds += pass.mkfs_seconds;
}

void Target::mount() {
  MountRecord& mount = context_.record.mount;
  if (pool_) {
    again_while_busy(
        [&] { mount.effective = pool_->create(block_.resolved, makedev(block_.major, block_.minor), uuid_); });
    open_root();
    return;
  }
  context_.journal->add(
      {JournalStep::Kind::mount, mount.point, block_.resolved, makedev(block_.major, block_.minor), 0});
  again_while_busy([&] {
    mount.effective = mount_filesystem(
        {block_.resolved, context_.cell.driver->kernel_type, context_.cell.mount_options, mount.point});
  });
  open_root();
}

void Target::open_root() { root_ = open_mount_root(context_.record.mount.point); }

void Target::unmount() {
  root_ = Descriptor();
  if (pool_) return pool_->destroy();
  unmount_filesystem(context_.record.mount.point, unmount_patience);
}

void Target::remount() {
  root_ = Descriptor();
  try {
    if (pool_) {
      pool_->export_pool();
    } else {
      unmount();
    }
  } catch (const RunError& error) {
    if (error.step() == "unmount") open_root();
    throw;
  }
  wait_until_free(block_.resolved, probe_patience);
  forget_cached_blocks();
  if (pool_) {
    context_.record.mount.effective = pool_->import_pool();
    return open_root();
  }
  mount();
}

SyncResult Target::sync() {
  if (!pool_) return MountedFilesystem::sync();
  // sync(2) and syncfs(2) do not wait for what zfs-fuse still has to write.
  const auto start = std::chrono::steady_clock::now();
  pool_->sync();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 0};
}

/// What ZFS caches by itself is not reached by it: an export and import empties that.
int Target::drop_caches() { return pool_ ? EOPNOTSUPP : mongo::drop_caches(); }

/// The file system is gone, but what it had in the block device's own cache need not be: while somebody has the device
/// open, as this run has its loop device, the kernel keeps it.
void Target::forget_cached_blocks() {
  const Descriptor device(::open(block_.resolved.c_str(), O_RDONLY | O_CLOEXEC));
  if (!device || ioctl(device.get(), BLKFLSBUF, 0) != 0) {
    throw RunError("remount", fmt::format("emptying the cache of {}: {}", block_.resolved, errno_text(errno)));
  }
  if (loop_) return loop_->drop_backing_cache();
  const DeviceRecord& described = context_.record.device;
  if (described.kind == "loop" && described.direct_io != true) drop_file_cache(described.backing);
}

}  // namespace mongo
