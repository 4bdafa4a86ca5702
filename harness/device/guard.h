#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/record.h"

namespace mongo {

class KernelView;

/// What a path turned out to be. Names are for people; the device number is what is compared.
struct BlockDevice {
  std::string given;
  std::string resolved;  // the kernel's own node, as /dev/sdb; where that is missing, symbolic links followed
  unsigned major = 0, minor = 0;
  std::uint64_t size_bytes = 0;
  std::string model, serial, by_id;  // empty where there is none
  std::string backing;               // the file behind a loop device, as the kernel names it; else empty
  std::string major_minor() const;
};

/// Why a device may not be used: the reason, the evidence for it, and what the user can do.
struct Refusal {
  enum class Reason {
    missing,
    not_block_device,
    no_medium,
    read_only,
    mounted,
    partition_mounted,
    parent_in_use,
    swap,
    held,
    member,
    loop_in_use,
    zpool,
    busy,
    holds_results,
    holds_system,
    signature,
    cannot_tell,
  };
  Reason reason;
  std::string device;    // as given, and resolved where that differs
  std::string what;      // "is mounted on /srv"
  std::string evidence;  // "/proc/self/mountinfo", "/sys/block/sdb/holders/dm-0", a pid; may be empty
  std::string advice;    // what to do
  std::string text() const;
};

struct GuardOptions {
  std::string root = "/";               // prefix for /proc, /sys and /dev/disk, for tests with a made-up tree
  bool destroy = false;                 // foreign signatures and unknown data are no reason to refuse
  std::vector<std::string> keep_paths;  // files whose disk must not be the device: results folder, the tool itself
};

/// Decides whether a device may be formatted. Fails closed: what cannot be found out is a refusal.
class Guard {
 public:
  explicit Guard(GuardOptions options);
  /// With another kernel to ask than the running one, for tests with a made-up tree.
  Guard(GuardOptions options, std::shared_ptr<const KernelView> kernel);

  /// Finds the node behind a path. Throws DeviceRefused when it is none.
  BlockDevice resolve(const std::string& path) const;

  /// The first reason not to use the device, or nothing. Compares device numbers, never names. Touches nothing.
  std::optional<Refusal> check(const BlockDevice& device) const;

  /// Throws DeviceRefused with check's refusal.
  void require(const BlockDevice& device) const;

 private:
  GuardOptions options_;
  std::shared_ptr<const KernelView> kernel_;
};

}  // namespace mongo
