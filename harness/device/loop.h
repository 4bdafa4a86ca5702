#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "harness/core/byte_size.h"
#include "harness/core/device_spec.h"

namespace mongo {

/// Throws RunError("attach", ...) when there are no loop devices here.
void check_loop_control();

struct LoopOptions {
  bool preallocate = true;     // the tool's own files get all their blocks before they are attached
  unsigned sector_size = 512;  // bytes: 512, 1024, 2048 or 4096; of the device that the file system sees
  bool direct_io = true;       // where the file system behind can do it
};

/// A loop device that this process attached. Its file has no name (O_TMPFILE or memfd) unless the user gave an image,
/// and the device carries LO_FLAGS_AUTOCLEAR, so that the kernel undoes all of it when this process dies. Source:
/// loop(4), linux/loop.h.
class LoopDevice {
 public:
  /// Makes the backing file (in $TMPDIR or /var/tmp, or in memory) or opens the image, checks that no other loop device
  /// has it, and attaches it to a free device. Throws DeviceRefused (image not usable) or RunError("attach", ...).
  /// `before` is told the node and the backing file's device and inode just before they are joined.
  using Before = std::function<void(const std::string& node, dev_t device, ino_t inode)>;
  static std::unique_ptr<LoopDevice> attach(const DeviceSpec& spec, const Before& before = {},
                                            const LoopOptions& options = {});
  /// As detach(); failures are printed to stderr. In a process forked from the one that attached it, nothing is
  /// detached.
  ~LoopDevice();
  LoopDevice(const LoopDevice&) = delete;
  LoopDevice& operator=(const LoopDevice&) = delete;

  const std::string& node() const { return node_; }        // /dev/loopN
  const std::string& backing() const { return backing_; }  // path, or "memory", or "unnamed file in /var/tmp"

  /// Whether reads and writes go past the page cache of the file system behind, as the kernel tells it now
  /// (/sys/block/loopN/loop/dio): it takes what was asked for as a wish. Never for memory, which is a page cache
  /// itself.
  bool direct_io() const;
  /// Whether the file behind has as many blocks as it has bytes (st_blocks): what is written then never waits for a
  /// place on the disk, nor runs out of it.
  bool preallocated() const;
  /// What the file behind lies on: "ext4", "tmpfs".
  std::string backing_filesystem() const;
  /// Fills the holes that mkfs has made by discarding, without changing what the device shows (fallocate(2)), and
  /// brings that to the disk. For after mkfs and before the mount. Does nothing unless attach() was asked to
  /// preallocate, nor to an image of the user's that had holes before. Throws RunError("preallocate", ...) when the
  /// disk behind is full.
  void preallocate_again();
  /// Writes what the file behind has in the page cache and drops it from there; for a device that is not mounted. Does
  /// nothing when there is no such second cache: with direct I/O, and in memory. Throws RunError("drop caches", ...).
  void drop_backing_cache();

  /// Detaches and waits, at most ten seconds, until the kernel has let go. Throws RunError("detach", ...). Idempotent.
  void detach();

 private:
  LoopDevice() = default;
  std::string node_, backing_;
  int device_fd_ = -1;
  int backing_fd_ = -1;
  bool keep_allocated_ = false;
  bool in_memory_ = false;
  bool attached_ = false;
  pid_t owner_ = 0;
};

}  // namespace mongo
