#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/record.h"

namespace mongo {

/// stat(2) of what a path leads to, links followed.
struct NodeStat {
  int error = 0;  // errno; the rest says nothing unless it is 0
  mode_t mode = 0;
  dev_t device = 0;  // of the file system that holds the node
  ino_t inode = 0;
  dev_t rdev = 0;
  bool is_block() const { return error == 0 && S_ISBLK(mode); }
};

/// What opening a block device tells.
struct OpenResult {
  int error = 0;  // errno of open(2) or of the first ioctl that failed
  dev_t rdev = 0;
  bool read_only = false;  // BLKROGET
  std::uint64_t size_bytes = 0;
};

/// What a loop device stands on. Source: LOOP_GET_STATUS64, loop(4).
struct LoopBacking {
  int error = 0;  // ENXIO: no file attached
  dev_t device = 0;
  ino_t inode = 0;
  dev_t rdev = 0;  // of the block device behind it; 0 when a regular file is behind it
};

/// What the guard asks the kernel that is not a file in /proc or /sys. Tests without root bring their own answers.
class KernelView {
 public:
  virtual ~KernelView() = default;
  /// realpath(3); the path itself when that fails.
  virtual std::string real_path(const std::string& path) const = 0;
  /// Never asks a server: a dead network file system must not stop a look at somebody's open files.
  virtual NodeStat stat(const std::string& path) const = 0;
  /// Opens with the flags (O_CLOEXEC added), looks, and closes again.
  virtual OpenResult open_device(const std::string& path, int flags) const = 0;
  virtual LoopBacking loop_backing(const std::string& path) const = 0;
  /// Whether this process has the right (CAP_SYS_PTRACE) to look at everybody's open files and mounts. What it is
  /// denied all the same is hidden by a security module.
  virtual bool may_look_at_processes() const = 0;
  /// As read_signatures().
  virtual std::vector<Signature> signatures(const std::string& path) const = 0;
  /// Where anything is written on a device without signatures, if anything is. Throws RunError("probe", ...) when that
  /// cannot be read.
  virtual std::optional<std::uint64_t> first_data(const std::string& path) const = 0;
};

/// The kernel that runs this process.
std::shared_ptr<const KernelView> real_kernel_view();

}  // namespace mongo
