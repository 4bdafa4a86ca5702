#include <fcntl.h>
#include <fmt/format.h>
#include <linux/loop.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "harness/core/errors.h"
#include "harness/device/busy.h"
#include "harness/device/journal.h"
#include "harness/device/journal_file.h"
#include "harness/device/kernel_view.h"
#include "harness/device/mount.h"
#include "harness/device/mount_table.h"
#include "harness/device/pool.h"
#include "harness/device/private_folder.h"
#include "harness/device/processes.h"
#include "harness/device/system_files.h"

namespace mongo {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// Undoes the journal of one dead run.
class Undoing {
 public:
  Undoing(const JournalText& journal, Clock::time_point deadline, CleanupReport& report)
      : journal_(journal), deadline_(deadline), report_(report) {
    same_boot_ = journal.header.boot_id == devio::trimmed(devio::read_file("/proc/sys/kernel/random/boot_id").text);
  }

  /// Returns whether nothing is left.
  bool run() {
    const std::size_t left_before = report_.left.size();
    // After a reboot there are no processes, mounts and loop devices of the run, and their numbers mean other things.
    if (same_boot_) end_processes();
    for (auto step = journal_.steps.rbegin(); step != journal_.steps.rend(); ++step) {
      try {
        undo(*step);
      } catch (const std::exception& error) {
        report_.left.push_back(error.what());
      }
    }
    return report_.left.size() == left_before;
  }

 private:
  void undo(const JournalStep& step) {
    switch (step.kind) {
      case JournalStep::Kind::directory:
        return remove_directory(step);
      case JournalStep::Kind::mount:
        if (same_boot_) unmount(step);
        return;
      case JournalStep::Kind::loop:
        if (same_boot_) detach(step);
        return;
      case JournalStep::Kind::lock:
        return remove_lock(step);
      case JournalStep::Kind::process:
        return;  // ended before everything else
      case JournalStep::Kind::pool:
        return remove_pool(step);
    }
  }

  /// The run's own processes: the same program file, the same command line, in the mount namespace that the run made;
  /// and the daemons that it noted. They die with the harness (PR_SET_PDEATHSIG); one that is in the middle of a system
  /// call takes as long as that.
  std::vector<int> own_processes() const {
    std::vector<int> found;
    const Processes processes;
    for (const int pid : processes.pids()) {
      const std::string folder = processes.folder(pid);
      struct stat program {};
      if (devio::read_link(folder + "/ns/mnt").text != journal_.header.mount_namespace) continue;
      if (devio::read_file(folder + "/cmdline").text != journal_.header.command_line) continue;
      if (stat((folder + "/exe").c_str(), &program) != 0) continue;
      if (fmt::format("{}:{}", program.st_dev, program.st_ino) == journal_.header.program) found.push_back(pid);
    }
    for (const JournalStep& step : journal_.steps) {
      // The name as well: a damaged line must not mean some other program.
      const int pid = static_cast<int>(step.device);
      if (step.kind == JournalStep::Kind::process && step.inode != 0 && processes.start_time(pid) == step.inode &&
          processes.program(pid) == step.path) {
        found.push_back(pid);
      }
    }
    return found;
  }

  void end_processes() {
    const int self = getpid();
    std::vector<int> pids = own_processes();
    std::erase(pids, self);
    for (const int pid : pids) {
      kill(pid, SIGKILL);
      report_.undone.push_back(fmt::format("ended process {} of run {}", pid, journal_.header.run_id));
    }
    while (!pids.empty() && Clock::now() < deadline_) {
      std::this_thread::sleep_for(milliseconds(10));
      pids = own_processes();
      std::erase(pids, self);
    }
    if (!pids.empty()) report_.left.push_back(fmt::format("process {} does not end", pids.front()));
  }

  /// The mount was made in a namespace that vanishes with its last process; the kernel then writes back and lets the
  /// device go, which takes its time. Where it is seen here all the same, it is unmounted.
  void unmount(const JournalStep& step) {
    const std::vector<MountEntry> table = parse_mountinfo(devio::read_file("/proc/self/mountinfo").text);
    const MountEntry* entry = mounted_at(table, step.path);
    struct stat node {};
    if (entry != nullptr && stat(entry->source.c_str(), &node) == 0 && S_ISBLK(node.st_mode) &&
        node.st_rdev == step.device) {
      unmount_filesystem(step.path, left());
      report_.undone.push_back("unmounted " + devio::printable(step.path));
    }
    if (stat(step.node.c_str(), &node) != 0 || node.st_rdev != step.device) return;
    // Somebody else's mount of the device is not ours to wait for.
    for (const MountEntry& other : table) {
      struct stat source {};
      if (stat(other.source.c_str(), &source) == 0 && S_ISBLK(source.st_mode) && source.st_rdev == step.device &&
          other.point != step.path) {
        return;
      }
    }
    const milliseconds waited = wait_until_free(step.node, left());
    if (waited > milliseconds(20)) {
      report_.undone.push_back(
          fmt::format("waited {} ms until the kernel had unmounted {}", waited.count(), step.node));
    }
  }

  static bool still_attached(const JournalStep& step) {
    const LoopBacking backing = real_kernel_view()->loop_backing(step.node);
    if (backing.error == 0) return backing.device == step.device && backing.inode == step.inode;
    // ENXIO with a file still shown: the kernel is in the middle of clearing the device (Lo_rundown in
    // drivers/block/loop.c).
    const std::string name = step.node.substr(step.node.rfind('/') + 1);
    return backing.error == ENXIO && !devio::read_file("/sys/block/" + name + "/loop/backing_file").text.empty();
  }

  void detach(const JournalStep& step) {
    // It clears itself when the last one closes it. What this adds is for a device that lost that flag.
    devio::FileDescriptor device(::open(step.node.c_str(), O_RDONLY | O_CLOEXEC));
    const LoopBacking backing = real_kernel_view()->loop_backing(step.node);
    const bool ours = backing.error == 0 && backing.device == step.device && backing.inode == step.inode;
    if (ours && device.valid() && ioctl(device.get(), LOOP_CLR_FD, 0) == 0) {
      report_.undone.push_back("detached " + step.node);
    }
    device.reset();
    while (still_attached(step)) {
      if (Clock::now() >= deadline_) {
        throw RunError("detach",
                       step.node + " still has the file of run " + journal_.header.run_id + ". See fuser " + step.node);
      }
      std::this_thread::sleep_for(milliseconds(10));
    }
  }

  void remove_directory(const JournalStep& step) {
    struct stat info {};
    if (lstat(step.path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return;
    const bool unique_name = step.inode == 0 && step.path.find(journal_.header.run_id) != std::string::npos;
    if (!unique_name && (info.st_dev != step.device || info.st_ino != step.inode)) return;  // another one of that name
    const int error = remove_unneeded_folder(step.path);
    if (error == EWOULDBLOCK) return;  // another run's by now, which removes it
    if (error != 0) {
      throw RunError("rmdir", fmt::format("{}: {}. Look into it, then remove it by hand", devio::printable(step.path),
                                          errno_text(error)));
    }
    report_.undone.push_back("removed the directory " + devio::printable(step.path));
  }

  void remove_lock(const JournalStep& step) {
    if (!step.path.starts_with("/run/lock/mongo/")) return;
    const devio::FileDescriptor file(::open(step.path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (!file.valid()) return;
    // Another run may hold it by now.
    if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) return;
    if (unlink(step.path.c_str()) == 0) report_.undone.push_back("removed the lock file " + step.path);
    rmdir(step.path.substr(0, step.path.rfind('/')).c_str());
  }

  /// The pool of zfs-fuse went with its daemon; that of OpenZFS is in the kernel. Both leave labels on the device.
  void remove_pool(const JournalStep& step) {
    for (const MountEntry& entry : parse_mountinfo(devio::read_file("/proc/self/mountinfo").text)) {
      if (entry.source == step.path && entry.type.ends_with("zfs")) unmount_filesystem(entry.point, left());
    }
    RealRunner runner;
    if (access("/sys/module/zfs", F_OK) == 0 && !find_program("zpool").empty() && pool_is_imported(runner, step.path)) {
      run_checked(runner, {{"zpool", "destroy", "-f", step.path}, std::chrono::minutes(10)}, "destroy");
      report_.undone.push_back("destroyed the pool " + step.path);
    }
    if (!carries_pool_label(step.node, step.path)) return;
    wait_until_free(step.node, left());
    if (wipe_pool(step.node, step.path)) report_.undone.push_back("wiped the pool " + step.path + " off " + step.node);
  }

  milliseconds left() const {
    return std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now()));
  }

  const JournalText& journal_;
  const Clock::time_point deadline_;
  CleanupReport& report_;
  bool same_boot_ = false;
};

}  // namespace

namespace {

/// The run that wrote the journal is still there: its pid has its command line. A pid alone may be another's by now.
bool owner_lives(const std::string& path) {
  const std::optional<JournalText> journal = parse_journal(devio::read_file(path).text);
  if (!journal) return true;  // being written
  const std::string folder = fmt::format("/proc/{}", journal->header.pid);
  return devio::read_file(folder + "/cmdline").text == journal->header.command_line;
}

/// Takes the journal's lock. The processes of a killed run share it until they have ended, too, and that is waited for.
bool take_lock(int fd, const std::string& path, Clock::time_point deadline) {
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (owner_lives(path) || Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return true;
}

}  // namespace

CleanupReport clean_up(const std::string& folder, milliseconds patience) {
  CleanupReport report;
  const devio::Names names = devio::list_names(folder);
  if (names.error == ENOENT) return report;
  if (names.error != 0) {
    throw RunError("cleanup", fmt::format("{} cannot be read: {}", devio::printable(folder), errno_text(names.error)));
  }
  const Clock::time_point deadline = Clock::now() + patience;
  for (const std::string& name : names.names) {
    const std::string path = folder + "/" + name;
    const bool unfinished = name.ends_with(".journal.new");
    if (!unfinished && !name.ends_with(".journal")) continue;
    const devio::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
    struct stat opened {
    }, named{};
    if (!file.valid() && errno == ENOENT) continue;  // finished meanwhile
    if (!file.valid() || fstat(file.get(), &opened) != 0 || !S_ISREG(opened.st_mode)) {
      report.left.push_back(devio::printable(path) +
                            " is no journal of this tool: look into it, then remove it by hand");
      continue;
    }
    if (!take_lock(file.get(), path, deadline)) {
      report.running.push_back(path);
      continue;
    }
    if (stat(path.c_str(), &named) != 0 || opened.st_ino != named.st_ino) continue;
    if (unfinished) {
      // A run that is just beginning has it for some microseconds without a lock; nothing has been done by it yet.
      if (time(nullptr) - opened.st_mtime > 60) unlink(path.c_str());
      continue;
    }
    const std::optional<JournalText> journal = parse_journal(devio::read_file(path).text);
    if (!journal) {
      report.left.push_back(devio::printable(path) +
                            " is no journal of this tool: look into it, then remove it by hand");
      continue;
    }
    if (Undoing(*journal, deadline, report).run()) unlink(path.c_str());
  }
  rmdir(folder.c_str());  // fails while something is in it, as it should
  return report;
}

}  // namespace mongo
