#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/device/kernel_view.h"

namespace mongo {

/// Something that a process does with a file or a file system.
struct ProcessUse {
  int pid = 0;
  std::string program;  // as in /proc/PID/comm
  std::string how;      // "descriptor 3", "working directory", "mapped file"
  bool writes = false;
};

struct ProcessUses {
  std::vector<ProcessUse> found;
  std::vector<int> hidden;  // processes whose files may not be looked at (EACCES, EPERM)
  int error = 0;            // errno when those of some process could not be looked at for another reason, else 0
};

/// Looks at the processes of a /proc tree. Processes that end meanwhile are passed over.
class Processes {
 public:
  explicit Processes(std::string root = "/", std::shared_ptr<const KernelView> kernel = real_kernel_view());

  /// Ascending. Empty when /proc cannot be listed.
  std::vector<int> pids() const;
  std::string program(int pid) const;
  /// When it started, in clock ticks since the boot; with the pid this names one process for certain. Nothing when it
  /// has ended, also where nobody has waited for it yet. Source: field 22 of /proc/PID/stat, proc(5).
  std::optional<std::uint64_t> start_time(int pid) const;
  /// "/proc/PID" with the prefix of a made-up tree.
  std::string folder(int pid) const;

  /// Descriptors whose file is wanted, one use a process.
  ProcessUses open_files(const std::function<bool(const NodeStat&)>& wanted) const;
  /// Working directories, roots, programs, descriptors and mapped files on a file system.
  ProcessUses users_of_file_system(dev_t device) const;
  /// This process and those that started it. Empty for a made-up tree, where pids mean other processes.
  std::vector<int> own_line() const;

 private:
  bool look_at_descriptors(int pid, const std::function<bool(const NodeStat&)>& wanted, ProcessUses& uses) const;
  bool maps_file_system(int pid, dev_t device) const;

  std::string root_;
  std::shared_ptr<const KernelView> kernel_;
};

/// "pid 123 (bash: working directory), pid 77 (qemu: descriptor 5)"; at most five, then how many more.
std::string list_uses(const std::vector<ProcessUse>& uses);

}  // namespace mongo
