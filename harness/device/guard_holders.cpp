#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "harness/core/errors.h"
#include "harness/device/contents.h"
#include "harness/device/guard_uses.h"
#include "harness/device/system_files.h"

// What other devices, pools and programs do with the device, and what is written on it.

namespace mongo {

namespace {

using Reason = Refusal::Reason;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

std::optional<Refusal> DeviceUses::changed() const {
  const NodeStat node = kernel_.stat(device_.resolved);
  if (node.is_block() && node.rdev == rdev_) return std::nullopt;
  const std::string now = node.error != 0    ? errno_text(node.error)
                          : !node.is_block() ? "not a block device any more"
                                             : "now " + major_minor_text(node.rdev);
  return refuse(Reason::cannot_tell, fmt::format("was {} when it was looked up and is {}", device_.major_minor(), now),
                "", "Something changes the names of devices; use a name below /dev/disk/by-id and try again.");
}

std::optional<Refusal> DeviceUses::read_only() const {
  const std::string advice =
      "Make it writable (blockdev --setrw, the switch on the card, losetup without -r), or name another device.";
  for (const Relative& relative : relatives_) {
    if (relative.kind != Relative::Kind::self && relative.kind != Relative::Kind::disk) continue;
    if (blocks_.read_only(relative.block)) {
      return refuse(Reason::read_only, relative, "is read-only",
                    fmt::format("/sys/dev/block/{}/ro", major_minor_text(relative.block.rdev)), advice);
    }
  }
  const OpenResult opened = kernel_.open_device(device_.resolved, O_RDONLY);
  if (opened.error != 0) {
    throw CannotTell(fmt::format("{} cannot be opened for reading: {}", device_.resolved, errno_text(opened.error)),
                     device_.resolved);
  }
  if (opened.rdev != rdev_) throw CannotTell(device_.resolved + " became another device", device_.resolved);
  if (opened.read_only) return refuse(Reason::read_only, "is read-only", "BLKROGET", advice);
  return std::nullopt;
}

// The kernel shows an extended partition with two sectors, whatever its size, and its logical partitions as its
// siblings: nothing tells which of them are lost with it.
std::optional<Refusal> DeviceUses::extended() const {
  if (!relatives_.front().block.partition || device_.size_bytes > 1024) return std::nullopt;
  return refuse(Reason::cannot_tell,
                fmt::format("is a partition of {} bytes, as extended partitions are shown, which hold other partitions",
                            device_.size_bytes),
                "", "Name one of the logical partitions, or another device.");
}

std::optional<Refusal> DeviceUses::held() const {
  for (const Relative& relative : relatives_) {
    const std::vector<std::string> holders = blocks_.holders_of(relative.block);
    if (holders.empty()) continue;
    return refuse(relative.kind == Relative::Kind::disk ? Reason::parent_in_use : Reason::held, relative,
                  "is held by " + joined(holders),
                  fmt::format("/sys/dev/block/{}/holders", major_minor_text(relative.block.rdev)),
                  "Take the volume, mapping or array above it down first if it may be lost, or name another device.");
  }
  return std::nullopt;
}

// A loop device does not claim what it stands on, so neither O_EXCL nor the holders show it.
std::optional<Refusal> DeviceUses::loops() const {
  for (const SysBlock& loop : blocks_.attached_loops()) {
    const bool own = std::any_of(own_loops_.begin(), own_loops_.end(),
                                 [&](const auto& each) { return each.block.rdev == loop.rdev; });
    if (own) continue;
    const std::optional<std::string> file = blocks_.backing_file(loop);
    if (!file) continue;  // detached meanwhile
    const std::string evidence = fmt::format("/sys/block/{}/loop/backing_file", loop.name);
    const std::string advice =
        fmt::format("Detach it first (losetup -d {}) if it may be lost, or name another device.", loop.node());
    const LoopBacking backing = kernel_.loop_backing(loop.node());
    if (backing.error == ENXIO) continue;
    if (backing.error != 0) {
      throw CannotTell(fmt::format("the loop device {} ({}) cannot be asked what it stands on: {}", loop.node(),
                                   devio::printable(*file), errno_text(backing.error)),
                       loop.node());
    }
    const NodeStat node = kernel_.stat(*file);
    for (const dev_t below : {backing.rdev, node.is_block() ? node.rdev : dev_t{0}}) {
      const Relative* relative = below == 0 ? nullptr : relative_with(below);
      if (relative == nullptr) continue;
      return refuse(Reason::loop_in_use, *relative, "carries the loop device " + loop.node(), evidence, advice);
    }
    for (const OwnLoop& mine : own_loops_) {
      if (mine.backing.device != backing.device || mine.backing.inode != backing.inode) continue;
      return refuse(
          Reason::loop_in_use,
          fmt::format("stands on {}, which the loop device {} stands on too", devio::printable(*file), loop.node()),
          evidence, advice);
    }
  }
  return std::nullopt;
}

std::vector<std::string> DeviceUses::imported_pools() const {
  const std::string folder = blocks_.root() + "/proc/spl/kstat/zfs";
  const devio::Names names = devio::list_names(folder);
  if (names.error == ENOENT) return {};
  if (names.error != 0) throw CannotTell(folder + " cannot be read: " + errno_text(names.error), folder);
  std::vector<std::string> pools;
  for (const std::string& name : names.names) {
    // Pools are folders there, statistics are files.
    if (devio::list_names(folder + "/" + name).error == 0) pools.push_back(name);
  }
  return pools;
}

// The label of a pool member names its pool; spares and caches name none, and zfs-fuse lists no pools in /proc. What
// cannot be ruled out is refused.
std::optional<Refusal> DeviceUses::pools() const {
  const std::vector<std::string> imported = imported_pools();
  std::optional<int> daemon;
  for (const int pid : processes_.pids()) {
    if (processes_.program(pid) == "zfs-fuse") daemon = pid;
  }
  if (imported.empty() && !daemon) return std::nullopt;
  for (const Relative& relative : relatives_) {
    for (const Signature& signature : kernel_.signatures(node_of(relative))) {
      if (signature.type != "zfs_member") continue;
      const std::string pool =
          signature.label.empty() ? "a ZFS pool" : "the ZFS pool " + devio::printable(signature.label);
      if (daemon) {
        return refuse(Reason::zpool, relative, fmt::format("is a member of {}, and zfs-fuse is running", pool),
                      fmt::format("pid {}", *daemon),
                      "Export the pool (zpool export) and clear the label (zpool labelclear), or end zfs-fuse, or name "
                      "another device.");
      }
      if (signature.label.empty() || std::find(imported.begin(), imported.end(), signature.label) != imported.end()) {
        return refuse(Reason::zpool, relative,
                      fmt::format("is a member of {}, and pools are imported: {}", pool, joined(imported)),
                      "/proc/spl/kstat/zfs", "Export the pool first (zpool export), or name another device.");
      }
    }
  }
  return std::nullopt;
}

// Late, because closing a device that was open for writing makes udev look at it again.
std::optional<Refusal> DeviceUses::writable() const {
  const OpenResult opened = kernel_.open_device(device_.resolved, O_RDWR);
  if (opened.error == 0 || opened.error == EBUSY) return std::nullopt;  // exclusive() tells more about EBUSY
  if (opened.error == EROFS || opened.error == EACCES || opened.error == EPERM) {
    return refuse(Reason::read_only, "cannot be opened for writing: " + errno_text(opened.error), "open(2)",
                  "Run as root; in a container, allow the device; or name another device.");
  }
  throw CannotTell(fmt::format("{} cannot be opened for writing: {}", device_.resolved, errno_text(opened.error)),
                   device_.resolved);
}

std::optional<Refusal> DeviceUses::exclusive() const {
  for (const Relative& relative : relatives_) {
    if (relative.kind != Relative::Kind::self && relative.kind != Relative::Kind::backing) continue;
    const std::string node = node_of(relative);
    const OpenResult opened = kernel_.open_device(node, O_RDONLY | O_EXCL);
    if (opened.error == 0 && opened.rdev == relative.block.rdev) continue;
    if (opened.error != EBUSY) {
      throw CannotTell(fmt::format("{} cannot be opened exclusively: {}", node,
                                   opened.error == 0 ? "another device" : errno_text(opened.error)),
                       node);
    }
    const std::vector<int> own = processes_.own_line();
    ProcessUses uses = processes_.open_files(
        [&](const NodeStat& file) { return file.is_block() && relative_with(file.rdev) != nullptr; });
    std::erase_if(uses.found, [&](const auto& use) { return std::find(own.begin(), own.end(), use.pid) != own.end(); });
    return refuse(Reason::busy, relative, "is claimed by another user (EBUSY)",
                  uses.found.empty() ? "open(2) with O_EXCL; no process found that has it open" : list_uses(uses.found),
                  "Find out what uses it (lsblk, fuser), wait until that is done, or name another device.");
  }
  return std::nullopt;
}

// Virtual machines and the owners of other loop devices have a device open without claiming it.
std::optional<Refusal> DeviceUses::writers() const {
  const auto wanted = [&](const NodeStat& file) {
    if (file.error != 0) return false;
    if (S_ISBLK(file.mode)) return relative_with(file.rdev) != nullptr;
    return std::any_of(own_loops_.begin(), own_loops_.end(), [&](const OwnLoop& loop) {
      return loop.backing.rdev == 0 && loop.backing.device == file.device && loop.backing.inode == file.inode;
    });
  };
  ProcessUses uses = processes_.open_files(wanted);
  if (uses.error != 0) {
    throw CannotTell("the open files of other processes cannot be looked at: " + errno_text(uses.error), "/proc/*/fd");
  }
  // With every right that the kernel asks for, what is hidden still is some security module's own daemon; the claims
  // that the kernel knows (mounts, swap, arrays) have been asked for above, whoever made them.
  if (!uses.hidden.empty() && !kernel_.may_look_at_processes()) {
    throw CannotTell(
        fmt::format("the open files of pid {} cannot be looked at without CAP_SYS_PTRACE", uses.hidden.front()),
        "/proc/*/fd");
  }
  const std::vector<int> own = processes_.own_line();
  std::erase_if(uses.found, [&](const ProcessUse& use) {
    return !use.writes || std::find(own.begin(), own.end(), use.pid) != own.end();
  });
  if (uses.found.empty()) return std::nullopt;
  return refuse(Reason::busy, "or what it stands on is open for writing in " + list_uses(uses.found), "/proc/*/fd",
                "End that program first if what it does may be lost, or name another device.");
}

std::optional<Refusal> DeviceUses::signatures() const {
  std::optional<Refusal> refusal = refuse_contents(kernel_, device_.resolved, options_.destroy);
  if (!refusal) return std::nullopt;
  return refuse(refusal->reason, refusal->what, refusal->evidence, refusal->advice);
}

}  // namespace mongo
