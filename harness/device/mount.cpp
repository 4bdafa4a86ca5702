#include "harness/device/mount.h"

#include <fmt/format.h>
#include <libmount/libmount.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <memory>
#include <stdexcept>

#include "harness/core/errors.h"
#include "harness/device/kernel_log.h"
#include "harness/device/mount_table.h"
#include "harness/device/sys_block.h"
#include "harness/device/system_files.h"

namespace mongo {

namespace {

struct ContextFree {
  void operator()(libmnt_context* context) const { mnt_free_context(context); }
};
using Context = std::unique_ptr<libmnt_context, ContextFree>;

// For messages only; nothing is ever run from it.
std::string as_command(const MountRequest& request) {
  return fmt::format("mount -t {}{}{} {} '{}'", request.type, request.options.empty() ? "" : " -o ",
                     devio::printable(request.options), request.device, devio::printable(request.point));
}

[[noreturn]] void fail(const MountRequest& request, const std::string& what) {
  throw RunError("mount", fmt::format("{}: {}", as_command(request), what));
}

std::string last_log_line(KernelLog& log, const MountRequest& request) {
  const std::string node = request.device.substr(request.device.find_last_of('/') + 1);
  std::string upper = request.type;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  const std::string line = log.last_line_about({node, request.type, upper});
  return line.empty() ? "" : fmt::format(" The kernel says: {}.", line);
}

void mount_with_libmount(const MountRequest& request, KernelLog& log) {
  const Context context(mnt_new_context());
  if (!context) fail(request, "libmount: out of memory");
  libmnt_context* mount_context = context.get();
  // Nothing but what the caller said: no /etc/fstab, no mount.TYPE helper, no LABEL= in the source, no second try
  // read-only, and no line in /run/mount/utab that would outlive the run.
  mnt_context_set_optsmode(mount_context, MNT_OMODE_NOTAB);
  mnt_context_disable_helpers(mount_context, 1);
  mnt_context_disable_canonicalize(mount_context, 1);
  mnt_context_disable_swapmatch(mount_context, 1);
  mnt_context_disable_mtab(mount_context, 1);
  mnt_context_enable_rwonly_mount(mount_context, 1);
  if (mnt_context_set_source(mount_context, request.device.c_str()) != 0 ||
      mnt_context_set_target(mount_context, request.point.c_str()) != 0 ||
      mnt_context_set_fstype(mount_context, request.type.c_str()) != 0 ||
      (!request.options.empty() && mnt_context_set_options(mount_context, request.options.c_str()) != 0)) {
    fail(request, "libmount does not take these words. Check the type and the options.");
  }
  const int result = mnt_context_mount(mount_context);
  if (result == 0 && mnt_context_get_status(mount_context) == 1) return;
  if (mnt_context_syscall_called(mount_context) != 0) {
    const int error = mnt_context_get_syscall_errno(mount_context);
    const char* advice = error == EINVAL
                             ? " An option that this kernel does not know, or a file system that it does not take."
                         : error == ENODEV ? " This kernel does not have the file system."
                         : error == EBUSY  ? " Something uses the device; see lsblk and fuser."
                                           : "";
    fail(request, fmt::format("{}.{}{}", errno_text(error), last_log_line(log, request), advice));
  }
  char text[512] = {};
  mnt_context_get_excode(mount_context, result, text, sizeof text);
  fail(request, fmt::format("libmount: {}", *text != '\0' ? std::string(text) : errno_text(-result)));
}

// Empty when the mount is what was asked for, else what is wrong with it.
std::string what_is_wrong(const MountRequest& request, dev_t before, dev_t rdev, std::string& effective) {
  struct stat now {};
  if (stat(request.point.c_str(), &now) != 0) return "the mount point cannot be looked at: " + errno_text(errno);
  if (now.st_dev == before)
    return "the mount call succeeded, but the mount point still shows the file system it lies on";
  const devio::FileText text = devio::read_file("/proc/self/mountinfo");
  if (text.error != 0) return "/proc/self/mountinfo cannot be read: " + errno_text(text.error);
  try {
    const std::vector<MountEntry> table = parse_mountinfo(text.text);
    const MountEntry* entry = mounted_at(table, request.point);
    if (entry == nullptr) return "the mount table does not show it";
    struct stat source {};
    const bool same_source =
        stat(entry->source.c_str(), &source) == 0 && S_ISBLK(source.st_mode) && source.st_rdev == rdev;
    if (entry->device != rdev && !(major(entry->device) == 0 && same_source)) {
      return fmt::format("the mount table shows {} ({}) there, not {}", entry->source, major_minor_text(entry->device),
                         major_minor_text(rdev));
    }
    if (entry->type != request.type) return fmt::format("the mount table shows the type {}", entry->type);
    struct statvfs state {};
    if (statvfs(request.point.c_str(), &state) != 0) return "statvfs failed: " + errno_text(errno);
    effective = effective_options(*entry);
    if ((state.f_flag & ST_RDONLY) != 0) return fmt::format("it was mounted read-only ({})", effective);
  } catch (const std::invalid_argument& error) {
    return fmt::format("/proc/self/mountinfo has a line that cannot be read: {}", error.what());
  }
  return {};
}

}  // namespace

std::string mount_version() {
  const char* version = nullptr;
  mnt_get_library_version(&version);
  return version == nullptr ? "libmount" : fmt::format("libmount {}", version);
}

std::string mount_filesystem(const MountRequest& request) {
  struct stat node {
  }, before{};
  if (stat(request.device.c_str(), &node) != 0) fail(request, "the device cannot be looked at: " + errno_text(errno));
  // libmount would make a loop device for a regular file.
  if (!S_ISBLK(node.st_mode)) fail(request, "that is not a block device");
  if (stat(request.point.c_str(), &before) != 0) {
    fail(request, "the mount point cannot be looked at: " + errno_text(errno));
  }
  KernelLog log;
  mount_with_libmount(request, log);
  std::string effective;
  const std::string wrong = what_is_wrong(request, before.st_dev, node.st_rdev, effective);
  if (wrong.empty()) return effective;
  std::string undone;
  struct stat now {};
  // Only what this call has put there.
  if (stat(request.point.c_str(), &now) == 0 && now.st_dev != before.st_dev) {
    try {
      unmount_filesystem(request.point, std::chrono::seconds(5));
    } catch (const RunError& error) {
      undone = fmt::format(" And it could not be unmounted again: {}", error.what());
    }
  }
  fail(request, wrong + "." + undone);
}

}  // namespace mongo
