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

/// A loop device that this process attached. Its file has no name (O_TMPFILE or memfd) unless the user gave an image,
/// and the device carries LO_FLAGS_AUTOCLEAR, so that the kernel undoes all of it when this process dies. Source:
/// loop(4), linux/loop.h.
class LoopDevice {
 public:
  /// Makes the backing file (in $TMPDIR or /var/tmp, or in memory) or opens the image, checks that no other loop device
  /// has it, and attaches it to a free device. Throws DeviceRefused (image not usable) or RunError("attach", ...).
  /// `before` is told the node and the backing file's device and inode just before they are joined.
  using Before = std::function<void(const std::string& node, dev_t device, ino_t inode)>;
  static std::unique_ptr<LoopDevice> attach(const DeviceSpec& spec, const Before& before = {});
  /// As detach(); failures are printed to stderr. In a process forked from the one that attached it, nothing is
  /// detached.
  ~LoopDevice();
  LoopDevice(const LoopDevice&) = delete;
  LoopDevice& operator=(const LoopDevice&) = delete;

  const std::string& node() const { return node_; }        // /dev/loopN
  const std::string& backing() const { return backing_; }  // path, or "memory", or "unnamed file in /var/tmp"

  /// Detaches and waits, at most ten seconds, until the kernel has let go. Throws RunError("detach", ...). Idempotent.
  void detach();

 private:
  LoopDevice() = default;
  std::string node_, backing_;
  int device_fd_ = -1;
  int backing_fd_ = -1;
  bool attached_ = false;
  pid_t owner_ = 0;
};

}  // namespace mongo
