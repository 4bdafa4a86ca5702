#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <thread>

#include "harness/core/errors.h"
#include "harness/device/mount.h"
#include "harness/device/mount_table.h"
#include "harness/device/processes.h"
#include "harness/device/sys_block.h"
#include "harness/device/system_files.h"

namespace mongo {

namespace {

// Gigabytes in memory on a slow disk take minutes.
constexpr std::chrono::minutes write_back_patience(30);

std::vector<MountEntry> own_table(const std::string& point) {
  const devio::FileText text = devio::read_file("/proc/self/mountinfo");
  try {
    if (text.error == 0) return parse_mountinfo(text.text);
    throw RunError("unmount", fmt::format("'{}': /proc/self/mountinfo cannot be read: {}", devio::printable(point),
                                          errno_text(text.error)));
  } catch (const std::invalid_argument& error) {
    throw RunError("unmount", fmt::format("'{}': /proc/self/mountinfo has a line that cannot be read: {}",
                                          devio::printable(point), error.what()));
  }
}

// Not only processes keep a file system busy.
std::string holders_of(const std::string& point) {
  std::vector<std::string> holders;
  struct stat info {};
  if (stat(point.c_str(), &info) == 0) {
    const ProcessUses uses = Processes().users_of_file_system(info.st_dev);
    if (!uses.found.empty()) holders.push_back(list_uses(uses.found));
  }
  for (const MountEntry& entry : own_table(point)) {
    if (entry.point.starts_with(point + "/")) holders.push_back("a mount on " + devio::printable(entry.point));
  }
  try {
    const SysBlocks blocks("/");
    for (const SysBlock& loop : blocks.attached_loops()) {
      const std::string file = blocks.backing_file(loop).value_or("");
      if (file.starts_with(point + "/")) holders.push_back(fmt::format("{} ({})", loop.node(), devio::printable(file)));
    }
  } catch (const CannotTell&) {
    // Said less, nothing lost.
  }
  std::string text;
  for (const std::string& holder : holders) text += (text.empty() ? "" : ", ") + holder;
  return text;
}

/// umount2 in a child, because it returns only when all is written back and nothing can interrupt it. Returns 0 or an
/// errno; throws when the deadline passes, and the child goes on.
int unmount_once(const std::string& point, std::chrono::steady_clock::time_point deadline) {
  const pid_t child = fork();
  if (child < 0) return errno;
  if (child == 0) {
    setpgid(0, 0);
    // Never MNT_DETACH: what is detached while busy lives on unseen and keeps the device.
    _exit(umount2(point.c_str(), UMOUNT_NOFOLLOW) == 0 ? 0 : errno);
  }
  std::chrono::microseconds pause(200);
  while (true) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
    if (ended < 0 && errno != EINTR) return errno;
    if (std::chrono::steady_clock::now() >= deadline) {
      throw RunError(
          "unmount",
          fmt::format("umount '{}': the kernel still writes back (pid {} waits for it). Wait for that, then run "
                      "mongo cleanup",
                      devio::printable(point), child));
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(20'000));
  }
}

}  // namespace

void unmount_filesystem(const std::string& point, std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + patience;
  std::chrono::milliseconds pause(2);
  while (true) {
    if (mounted_at(own_table(point), point) == nullptr) return;
    const int error = unmount_once(point, Clock::now() + write_back_patience);
    if (error == 0) return;
    if (error != EBUSY && error != EINTR && error != EAGAIN) {
      if (error == EINVAL && mounted_at(own_table(point), point) == nullptr) return;  // somebody was faster
      throw RunError("unmount",
                     fmt::format("umount '{}': {}. Try it by hand.", devio::printable(point), errno_text(error)));
    }
    if (Clock::now() >= deadline) {
      const std::string holders = holders_of(point);
      throw RunError("unmount",
                     fmt::format("umount '{}': still busy after {} ms. {}", devio::printable(point), patience.count(),
                                 holders.empty() ? "No holder was found; try fuser -vm on it."
                                                 : fmt::format("Held by {}. End that, then umount it.", holders)));
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(100));
  }
}

}  // namespace mongo
