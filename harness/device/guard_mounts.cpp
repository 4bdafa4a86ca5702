#include <fmt/format.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "harness/core/errors.h"
#include "harness/device/guard_uses.h"
#include "harness/device/system_files.h"

// What file systems and swap do with the device.

namespace mongo {

namespace {

using Reason = Refusal::Reason;

Reason mounted_reason(Relative::Kind kind) {
  switch (kind) {
    case Relative::Kind::partition:
      return Reason::partition_mounted;
    case Relative::Kind::disk:
      return Reason::parent_in_use;
    default:
      return Reason::mounted;
  }
}

// A process may be hidden even from root (by a security module). Where it has the device mounted, the kernel does not
// let the device be opened exclusively, which is asked for later; here only the better message is lost.
bool is_hidden(int error) { return error == EACCES || error == EPERM; }

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

DeviceUses::Table DeviceUses::mount_table(const std::string& process, const std::string& where) const {
  const std::string file = blocks_.root() + process + "/mountinfo";
  const devio::FileText text = devio::read_file(file);
  if (text.error != 0) {
    const bool ended = text.error == ENOENT || text.error == ESRCH || text.error == EINVAL;  // EINVAL: a zombie
    if ((ended || is_hidden(text.error)) && process != "/proc/self") return {};
    throw CannotTell(fmt::format("{} cannot be read: {}", file, errno_text(text.error)), file);
  }
  try {
    return {parse_mountinfo(text.text), process + "/mountinfo", process, where};
  } catch (const std::invalid_argument& error) {
    throw CannotTell(fmt::format("{} has a line that cannot be read: {}", file, error.what()), file);
  }
}

std::vector<DeviceUses::Table> DeviceUses::mount_tables() const {
  const auto namespace_of = [&](const std::string& process) {
    return devio::read_link(blocks_.root() + process + "/ns/mnt");
  };
  const devio::FileText own = namespace_of("/proc/self");
  if (own.error != 0)
    throw CannotTell("/proc/self/ns/mnt cannot be read: " + errno_text(own.error), "/proc/self/ns/mnt");
  // A table shows only what lies below the root directory of its process, so one chrooted process does not speak for
  // its whole namespace.
  const auto key_of = [&](const std::string& name_space, const std::string& process) {
    const NodeStat root = kernel_.stat(process + "/root");
    return root.error != 0 ? name_space + " " + process : fmt::format("{} {} {}", name_space, root.device, root.inode);
  };
  std::vector<Table> tables{mount_table("/proc/self", "")};
  std::set<std::string> seen{key_of(own.text, "/proc/self")};
  const std::vector<int> pids = processes_.pids();
  if (pids.empty()) throw CannotTell("/proc lists no processes", "/proc");
  for (const int pid : pids) {
    const std::string process = fmt::format("/proc/{}", pid);
    const devio::FileText name_space = namespace_of(process);
    if (name_space.error == ENOENT || name_space.error == ESRCH) continue;  // ended, or a zombie
    if (is_hidden(name_space.error)) continue;
    if (name_space.error != 0) {
      throw CannotTell(fmt::format("{}/ns/mnt cannot be read: {}", process, errno_text(name_space.error)), process);
    }
    if (!seen.insert(key_of(name_space.text, process)).second) continue;
    const std::string where =
        fmt::format(" {} pid {} ({})", name_space.text == own.text ? "as seen by" : "in the mount namespace of", pid,
                    processes_.program(pid));
    tables.push_back(mount_table(process, where));
  }
  return tables;
}

// By the device number, and for file systems with an anonymous one (btrfs, zfs, FUSE) by what their source leads to:
// here, and from where the process stands.
const Relative* DeviceUses::mounted_relative(const MountEntry& entry, const std::string& process) const {
  if (const Relative* found = relative_with(entry.device)) return found;
  if (!entry.source.starts_with("/")) return nullptr;
  for (const std::string& path : {entry.source, process + "/root" + entry.source}) {
    const NodeStat node = kernel_.stat(path);
    if (!node.is_block()) continue;
    if (const Relative* found = relative_with(node.rdev)) return found;
  }
  return nullptr;
}

std::optional<Refusal> DeviceUses::mounted() const {
  for (const Table& table : mount_tables()) {
    std::vector<std::pair<const Relative*, std::string>> found;
    for (const MountEntry& entry : table.entries) {
      const Relative* relative = mounted_relative(entry, table.folder);
      if (relative != nullptr) found.emplace_back(relative, entry.point);
    }
    if (found.empty()) continue;
    // The device itself says more than a relative.
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first->kind < b.first->kind; });
    const auto& [relative, point] = found.front();
    std::string what = fmt::format("is mounted on {}{}", devio::printable(point), table.where);
    for (std::size_t i = 1; i < found.size() && i < 8; ++i) {
      what += fmt::format("{}{} on {}", i == 1 ? "; also " : ", ", found[i].first->block.name,
                          devio::printable(found[i].second));
    }
    return refuse(mounted_reason(relative->kind), *relative, what, table.evidence,
                  table.where.empty() ? "Unmount it first if its contents may be lost, or name another device."
                                      : "Unmount it there (nsenter -m -t PID umount ...) or end the process, or name "
                                        "another device.");
  }
  return std::nullopt;
}

std::optional<Refusal> DeviceUses::keeps() const {
  const Table own = mount_table("/proc/self", "");
  std::vector<std::string> paths{"/"};
  paths.insert(paths.end(), options_.keep_paths.begin(), options_.keep_paths.end());
  for (const std::string& kept : paths) {
    // What does not exist yet will lie where its nearest folder lies.
    std::string path = kept.empty() ? "." : kept;
    NodeStat node = kernel_.stat(path);
    while ((node.error == ENOENT || node.error == ENOTDIR) && path != "/" && path != ".") {
      path = parent_of(path);
      node = kernel_.stat(path);
    }
    if (node.error != 0)
      throw CannotTell(fmt::format("{} cannot be looked at: {}", path, errno_text(node.error)), path);
    const Relative* relative = relative_with(node.device);
    const MountEntry* entry = mount_of_path(own.entries, kernel_.real_path(path));
    if (relative == nullptr && entry != nullptr) relative = mounted_relative(*entry, own.folder);
    if (relative == nullptr) continue;
    const std::string where = entry == nullptr ? "" : fmt::format(" (mounted on {})", devio::printable(entry->point));
    if (kept == "/") {
      return refuse(Reason::holds_system, *relative, "holds the running system" + where, own.evidence,
                    "Name another device.");
    }
    return refuse(Reason::holds_results, *relative,
                  fmt::format("holds {}, which has to survive the run{}", devio::printable(kept), where), own.evidence,
                  "Keep the results and the tool on another disk, or name another device.");
  }
  return std::nullopt;
}

// A swap area whose node cannot be found by its name is looked up in /sys by the last part of it.
const Relative* DeviceUses::swap_relative(const std::string& name, const std::string& type) const {
  const NodeStat node = kernel_.stat(name);
  if (node.is_block()) return relative_with(node.rdev);
  if (type != "partition") {
    // A swap file on a file system of the device is found as a mount; here only one that a loop device stands on.
    for (const OwnLoop& loop : own_loops_) {
      if (node.error == 0 && loop.backing.rdev == 0 && loop.backing.device == node.device &&
          loop.backing.inode == node.inode) {
        return relative_with(loop.block.rdev);
      }
    }
    return nullptr;
  }
  const std::string link = blocks_.root() + "/sys/class/block/" + name.substr(name.find_last_of('/') + 1) + "/dev";
  const devio::FileText text = devio::read_file(link);
  if (text.error != 0) {
    throw CannotTell(fmt::format("which device the swap area {} is cannot be found out", devio::printable(name)),
                     "/proc/swaps");
  }
  for (const Relative& relative : relatives_) {
    if (major_minor_text(relative.block.rdev) == devio::trimmed(text.text)) return &relative;
  }
  return nullptr;
}

std::optional<Refusal> DeviceUses::swap() const {
  const std::string file = blocks_.root() + "/proc/swaps";
  const devio::FileText text = devio::read_file(file);
  if (text.error == ENOENT && devio::read_file(blocks_.root() + "/proc/self/mountinfo").error == 0) {
    return std::nullopt;  // a kernel without swap
  }
  if (text.error != 0) throw CannotTell(fmt::format("{} cannot be read: {}", file, errno_text(text.error)), file);
  const std::vector<std::string> lines = devio::lines_of(text.text);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> words = devio::words_of(lines[i]);
    if (words.size() < 2) throw CannotTell(file + " has a line that cannot be read: " + lines[i], file);
    const std::string name = devio::unescape_octal(words[0]);
    const Relative* relative = swap_relative(name, words[1]);
    if (relative == nullptr) continue;
    return refuse(Reason::swap, *relative, "is in use as swap", "/proc/swaps",
                  fmt::format("swapoff {} first if it may be lost, or name another device.", devio::printable(name)));
  }
  return std::nullopt;
}

// A btrfs file system on several devices shows only one of them in the mount table.
std::optional<Refusal> DeviceUses::btrfs_member() const {
  const std::string folder = blocks_.root() + "/sys/fs/btrfs";
  const devio::Names sets = devio::list_names(folder);
  if (sets.error == ENOENT) return std::nullopt;
  if (sets.error != 0) throw CannotTell(fmt::format("{} cannot be read: {}", folder, errno_text(sets.error)), folder);
  for (const std::string& uuid : sets.names) {
    const std::string devices = folder + "/" + uuid + "/devices";
    const devio::Names members = devio::list_names(devices);
    if (members.error == ENOENT || members.error == ENOTDIR) continue;  // "features", or unmounted meanwhile
    if (members.error != 0) throw CannotTell(devices + " cannot be read: " + errno_text(members.error), devices);
    for (const std::string& member : members.names) {
      const devio::FileText number = devio::read_file(devices + "/" + member + "/dev");
      if (number.error != 0 && devio::list_names(devices).error == ENOENT) break;
      if (number.error != 0) throw CannotTell(devices + "/" + member + "/dev cannot be read", devices + "/" + member);
      for (const Relative& relative : relatives_) {
        if (major_minor_text(relative.block.rdev) != devio::trimmed(number.text)) continue;
        return refuse(Reason::member, relative, fmt::format("is a member of the mounted btrfs file system {}", uuid),
                      fmt::format("/sys/fs/btrfs/{}/devices/{}", uuid, member),
                      "Unmount that file system first if it may be lost, or name another device.");
      }
    }
  }
  return std::nullopt;
}

std::optional<Refusal> DeviceUses::member() const {
  if (std::optional<Refusal> refusal = btrfs_member()) return refusal;
  for (const Relative& relative : relatives_) {
    const devio::Names bcache = devio::list_names(relative.block.folder + "/bcache");
    if (bcache.error == ENOENT) continue;
    return refuse(Reason::member, relative, "is registered with bcache",
                  fmt::format("/sys/dev/block/{}/bcache", major_minor_text(relative.block.rdev)),
                  "Stop the bcache device first if it may be lost, or name another device.");
  }
  return std::nullopt;
}

}  // namespace mongo
