#include "harness/device/fuse_requests.h"

#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <thread>

#include "harness/device/mount_table.h"
#include "harness/device/private_folder.h"
#include "harness/device/system_files.h"

namespace mongo {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr const char* connections = "/sys/fs/fuse/connections";

}  // namespace

void wait_for_fuse_requests(const std::string& point, milliseconds patience) {
  // The connection's number is the device number, which the mount table knows without asking the daemon.
  const std::vector<MountEntry> table = parse_mountinfo(devio::read_file("/proc/self/mountinfo").text);
  const MountEntry* entry = mounted_at(table, point);
  if (entry == nullptr || !entry->type.starts_with("fuse")) return;
  // Source: Documentation/filesystems/fuse.rst, "Control filesystem".
  const std::string waiting = fmt::format("{}/{}/waiting", connections, minor(entry->device));
  if (devio::list_names(connections).names.empty() && in_private_mount_namespace()) {
    ::mount("fusectl", connections, "fusectl", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
  }
  const Clock::time_point deadline = Clock::now() + patience;
  milliseconds pause(1);
  while (true) {
    const devio::FileText count = devio::read_file(waiting);
    if (count.error != 0) return std::this_thread::sleep_for(std::min(patience, milliseconds(300)));
    if (devio::trimmed(count.text) == "0" || Clock::now() >= deadline) return;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, milliseconds(20));
  }
}

}  // namespace mongo
