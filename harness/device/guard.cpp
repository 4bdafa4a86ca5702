#include "harness/device/guard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/sysmacros.h>

#include <cerrno>

#include "harness/core/errors.h"
#include "harness/device/guard_uses.h"
#include "harness/device/kernel_view.h"
#include "harness/device/sys_block.h"
#include "harness/device/system_files.h"

namespace mongo {

namespace {

using Reason = Refusal::Reason;

Refusal not_a_device(const std::string& device, mode_t mode, const std::string& given) {
  const char* kind = S_ISREG(mode)    ? "a regular file"
                     : S_ISDIR(mode)  ? "a directory"
                     : S_ISCHR(mode)  ? "a character device"
                     : S_ISFIFO(mode) ? "a named pipe"
                     : S_ISSOCK(mode) ? "a socket"
                                      : "a file of unknown kind";
  const std::string advice =
      S_ISREG(mode) ? fmt::format("To use an image file, say so: loop:{}", devio::printable(given))
      : S_ISDIR(mode)
          ? std::string("The device comes before the mount point; is the order right?")
          : std::string("Name a block device (see lsblk), an image file as loop:PATH, or loop:SIZE or ram:SIZE.");
  return {Reason::not_block_device, device, fmt::format("is {}, not a block device", kind), "", advice};
}

std::string shown(const std::string& given, const std::string& resolved) {
  const std::string name = given.empty() ? "''" : devio::printable(given);
  return given == resolved ? name : fmt::format("{} ({})", name, devio::printable(resolved));
}

[[noreturn]] void throw_refusal(const Refusal& refusal) { throw DeviceRefused(refusal.text()); }

// The link that a person would recognise: with model and serial number rather than a world wide name.
std::string by_id_link(const std::string& root, const KernelView& kernel, dev_t rdev) {
  std::string best;
  const auto is_number_only = [](const std::string& name) {
    return name.starts_with("wwn-") || name.starts_with("nvme-eui.") || name.starts_with("dm-uuid-") ||
           name.starts_with("lvm-pv-uuid-");
  };
  for (const std::string& name : devio::list_names(root + "/dev/disk/by-id").names) {
    const NodeStat node = kernel.stat("/dev/disk/by-id/" + name);
    if (!node.is_block() || node.rdev != rdev) continue;
    if (best.empty() || (is_number_only(best) && !is_number_only(name))) best = name;
  }
  return best.empty() ? best : "/dev/disk/by-id/" + best;
}

void add_identity(BlockDevice& device, const SysBlocks& blocks, const KernelView& kernel, dev_t rdev) {
  try {
    const SysBlock block = blocks.find(rdev);
    const std::optional<SysBlock> disk = blocks.disk_of(block);
    const SysBlock& whole = disk ? *disk : block;
    device.backing = blocks.backing_file(whole).value_or("");
    device.model = blocks.text(whole, "device/model");
    device.serial = blocks.text(whole, "device/serial");
    if (device.serial.empty()) device.serial = blocks.text(whole, "serial");
  } catch (const CannotTell&) {
    // Only names are missing here; check() asks /sys again and refuses.
  }
  device.by_id = by_id_link(blocks.root(), kernel, rdev);
}

// A node made by mknod has a name of its own; the kernel's says more, and is what everybody else sees.
std::string kernels_node(const std::string& root, const KernelView& kernel, dev_t rdev, const std::string& otherwise) {
  try {
    std::string node = SysBlocks(root).find(rdev).node();
    const NodeStat found = kernel.stat(node);
    if (found.is_block() && found.rdev == rdev) return node;
  } catch (const CannotTell&) {
    // Only a name is missing here; check() asks /sys again and refuses.
  }
  return otherwise;
}

}  // namespace

std::string BlockDevice::major_minor() const { return fmt::format("{}:{}", major, minor); }

std::string Refusal::text() const {
  std::string text = fmt::format("refusing to use {}: it {}", device, what);
  if (!evidence.empty()) text += fmt::format(" [{}]", evidence);
  if (text.back() != '.') text += '.';
  if (!advice.empty()) text += " " + advice;
  return text;
}

Guard::Guard(GuardOptions options) : Guard(std::move(options), real_kernel_view()) {}

Guard::Guard(GuardOptions options, std::shared_ptr<const KernelView> kernel)
    : options_(std::move(options)), kernel_(std::move(kernel)) {}

BlockDevice Guard::resolve(const std::string& path) const {
  if (path.empty()) {
    throw_refusal({Reason::missing, "''", "is an empty name", "", "Name a block device, e.g. /dev/sdx; see lsblk."});
  }
  if (path.find('\0') != std::string::npos) {
    throw_refusal({Reason::missing, "the device", "has a name with a NUL byte", "", "Name a block device; see lsblk."});
  }
  const NodeStat node = kernel_->stat(path);
  if (node.error == ENOENT) {
    throw_refusal({Reason::missing, shown(path, path), "does not exist", "", "See lsblk for the devices there are."});
  }
  if (node.error != 0) {
    throw_refusal({Reason::missing, shown(path, path), "cannot be looked at: " + errno_text(node.error), "",
                   "See lsblk for the devices there are."});
  }
  BlockDevice device;
  device.given = path;
  device.resolved = kernel_->real_path(path);
  if (!S_ISBLK(node.mode)) throw_refusal(not_a_device(shown(path, device.resolved), node.mode, path));
  device.resolved = kernels_node(options_.root, *kernel_, node.rdev, device.resolved);
  const std::string name = shown(path, device.resolved);
  device.major = major(node.rdev);
  device.minor = minor(node.rdev);

  const OpenResult opened = kernel_->open_device(device.resolved, O_RDONLY);
  if (opened.error == ENOMEDIUM || opened.error == ENXIO || opened.error == ENODEV) {
    throw_refusal({Reason::no_medium, name, "has no medium or no device behind it: " + errno_text(opened.error), "",
                   "Insert a medium, or name another device."});
  }
  if (opened.error != 0) {
    throw_refusal({Reason::cannot_tell, name, "cannot be opened for reading: " + errno_text(opened.error), "",
                   opened.error == EACCES || opened.error == EPERM
                       ? "Run as root, on a device that this machine or container may use."
                       : "See the kernel log (dmesg)."});
  }
  if (opened.rdev != node.rdev) {
    throw_refusal({Reason::cannot_tell, name, "became another device while it was looked at", "", "Try again."});
  }
  device.size_bytes = opened.size_bytes;
  if (opened.size_bytes == 0) {
    throw_refusal({Reason::no_medium, name, "has a size of 0 bytes: no medium, or a loop device without a file", "",
                   "Insert a medium or attach a file, or name another device."});
  }
  add_identity(device, SysBlocks(options_.root), *kernel_, node.rdev);
  return device;
}

std::optional<Refusal> Guard::check(const BlockDevice& device) const {
  // In the order in which the answers help most: what a device is used for says more than "busy", and "busy" more than
  // what is written on it.
  static constexpr std::optional<Refusal> (DeviceUses::*questions[])() const = {
      &DeviceUses::changed,  &DeviceUses::read_only, &DeviceUses::extended, &DeviceUses::swap,      &DeviceUses::keeps,
      &DeviceUses::mounted,  &DeviceUses::held,      &DeviceUses::member,   &DeviceUses::loops,     &DeviceUses::pools,
      &DeviceUses::writable, &DeviceUses::exclusive, &DeviceUses::writers,  &DeviceUses::signatures};
  const std::string name = shown(device.given, device.resolved);
  try {
    const DeviceUses uses(options_, kernel_, device);
    for (const auto question : questions) {
      if (std::optional<Refusal> refusal = (uses.*question)()) return refusal;
    }
    return std::nullopt;
  } catch (const CannotTell& error) {
    return Refusal{Reason::cannot_tell, name, fmt::format("cannot be shown to be unused: {}", error.what()), "",
                   "Run as root on a system with /proc and /sys mounted; nothing was touched."};
  } catch (const std::exception& error) {
    return Refusal{Reason::cannot_tell, name, fmt::format("cannot be shown to be unused: {}", error.what()), "",
                   "Nothing was touched."};
  }
}

void Guard::require(const BlockDevice& device) const {
  if (const std::optional<Refusal> refusal = check(device)) throw_refusal(*refusal);
}

}  // namespace mongo
