#include "harness/device/pool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <thread>

#include "harness/core/descriptor.h"
#include "harness/core/errors.h"
#include "harness/core/quote.h"
#include "harness/device/busy.h"
#include "harness/device/fuse_requests.h"
#include "harness/device/mount.h"
#include "harness/device/mount_table.h"
#include "harness/device/signatures.h"
#include "harness/device/system_files.h"

namespace mongo {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr minutes command_deadline(10);  // gigabytes that are still to be written, on a slow disk

std::string all_output(const CommandResult& result) { return result.err + result.out; }

/// An unmounted pool is busy for some milliseconds more: the daemon is told of the unmount, nobody waits for it.
bool says_busy(const CommandResult& result) { return all_output(result).find("busy") != std::string::npos; }

std::vector<MountEntry> own_table() {
  const devio::FileText text = devio::read_file("/proc/self/mountinfo");
  if (text.error != 0) throw RunError("mount", "/proc/self/mountinfo cannot be read: " + errno_text(text.error));
  try {
    return parse_mountinfo(text.text);
  } catch (const std::invalid_argument& error) {
    throw RunError("mount", fmt::format("/proc/self/mountinfo has a line that cannot be read: {}", error.what()));
  }
}

[[noreturn]] void fail(const std::string& step, const std::vector<std::string>& argv, const CommandResult& result) {
  throw RunError(step, fmt::format("failed{}: {}. The command was: {}", result.timed_out ? " after its deadline" : "",
                                   useful_line(result), quote_argv(argv)));
}

}  // namespace

std::string Pool::create() {
  run_checked(runner_, {plan_.create, command_deadline}, "mkfs");
  return effective_options();
}

/// The mount table shows this pool on its point, and it can be written to.
std::string Pool::effective_options() const {
  const std::vector<MountEntry> table = own_table();
  const MountEntry* entry = mounted_at(table, plan_.point);
  struct statvfs state {};
  std::string wrong;
  if (entry == nullptr) {
    wrong = "the mount table does not show it";
  } else if (entry->source != plan_.name || entry->type != plan_.mount_type) {
    wrong = fmt::format("the mount table shows {} of type {}", devio::printable(entry->source), entry->type);
  } else if (statvfs(plan_.point.c_str(), &state) != 0) {
    wrong = "statvfs failed: " + errno_text(errno);
  } else if ((state.f_flag & ST_RDONLY) != 0) {
    wrong = "it is read-only";
  } else {
    return mongo::effective_options(*entry);
  }
  throw RunError("mount", fmt::format("the pool {} should be mounted on '{}', but {}", plan_.name,
                                      devio::printable(plan_.point), wrong));
}

/// Before zpool does it: a busy mount is reported with its holders, and never detached and forgotten, as destroy -f
/// would.
void Pool::unmount(milliseconds patience) const {
  const std::vector<MountEntry> table = own_table();
  const MountEntry* entry = mounted_at(table, plan_.point);
  if (entry == nullptr || entry->source != plan_.name) return;
  wait_for_fuse_requests(plan_.point, patience);
  unmount_filesystem(plan_.point, patience);
}

CommandResult Pool::run_while_busy(ProcessRunner& runner, const PoolPlan::Argv& argv, milliseconds patience) {
  const Clock::time_point deadline = Clock::now() + patience;
  milliseconds pause(5);
  while (true) {
    CommandResult result = runner.run({argv, command_deadline});
    if (result.ok() || !says_busy(result) || Clock::now() >= deadline) return result;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, milliseconds(100));
  }
}

void Pool::export_pool(milliseconds patience) {
  unmount(patience);
  const CommandResult result = run_while_busy(runner_, plan_.export_pool, patience);
  if (!result.ok()) fail("export", plan_.export_pool, result);
}

std::string Pool::import_pool() {
  run_checked(runner_, {plan_.import_pool, command_deadline}, "import");
  return effective_options();
}

void Pool::sync() { run_checked(runner_, {plan_.sync, command_deadline}, "sync"); }

std::vector<std::pair<std::string, std::string>> Pool::properties() {
  const CommandResult result = run_checked(runner_, {plan_.properties, command_deadline}, "properties");
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& line : devio::lines_of(result.out)) {
    const std::size_t tab = line.find('\t');
    if (tab != std::string::npos) all.emplace_back(line.substr(0, tab), devio::trimmed(line.substr(tab + 1)));
  }
  return all;
}

void Pool::destroy(milliseconds patience) {
  unmount(patience);
  RealRunner uninterrupted;
  if (pool_is_imported(uninterrupted, plan_.name)) {
    const CommandResult result = run_while_busy(uninterrupted, plan_.destroy, patience);
    if (!result.ok() && plan_.restart_daemon) {
      plan_.restart_daemon();
    } else if (!result.ok() && pool_is_imported(uninterrupted, plan_.name)) {
      fail("destroy", plan_.destroy, result);
    }
  }
  // udev looks at a device that somebody has let go of, and has it open for a moment.
  for (const Clock::time_point deadline = Clock::now() + patience;;) {
    if (!carries_pool_label(plan_.node, plan_.name)) return;
    wait_until_free(plan_.node, patience);
    try {
      wipe_pool(plan_.node, plan_.name);
      return;
    } catch (const RunError& error) {
      if (std::string(error.what()).find("busy") == std::string::npos || Clock::now() >= deadline) throw;
    }
  }
}

bool pool_is_imported(ProcessRunner& runner, const std::string& name) {
  const std::vector<std::string> argv{"zpool", "list", "-H", "-o", "name", name};
  const CommandResult result = runner.run({argv, minutes(2)});
  if (result.ok()) return true;
  const std::string text = all_output(result);
  // zfs-fuse and OpenZFS without a daemon or module: then nobody has a pool.
  for (const char* no : {"no such pool", "connect: ", "modules", "/dev/zfs"}) {
    if (text.find(no) != std::string::npos) return false;
  }
  fail("destroy", argv, result);
}

bool carries_pool_label(const std::string& node, const std::string& name) {
  // Source: "ZFS On-Disk Specification", chapter 1. Two labels at the beginning, two at the end.
  constexpr off_t label_bytes = 262144;
  const Descriptor device(::open(node.c_str(), O_RDONLY | O_CLOEXEC));
  const off_t size = device ? lseek(device.get(), 0, SEEK_END) : -1;
  const off_t aligned = size - size % label_bytes;
  if (name.empty() || aligned < 4 * label_bytes) return false;
  std::string label(label_bytes, '\0');
  for (const off_t at : {off_t{0}, label_bytes, aligned - 2 * label_bytes, aligned - label_bytes}) {
    const ssize_t got = pread(device.get(), label.data(), label.size(), at);
    if (got > 0 && label.find(name) < static_cast<std::size_t>(got)) return true;
  }
  return false;
}

bool wipe_pool(const std::string& node, const std::string& name) {
  if (!carries_pool_label(node, name)) return false;
  for (const Signature& signature : read_signatures(node)) {
    if (signature.type != "zfs_member" || signature.label != name) return false;
  }
  wipe_signatures(node);
  return true;
}

}  // namespace mongo
