#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/device/guard.h"

namespace mongo {

/// A block device of this host, and what a run would say to it.
struct InventoryItem {
  BlockDevice device;
  // As /sys says, for which the device need not be opened. Null or empty: it does not say.
  std::optional<std::uint64_t> size_bytes;
  std::string major_minor;  // "8:16"
  std::vector<Signature> contents;
  std::string contents_unknown;  // why they could not be read; empty when they were
  bool accepted = false;         // a run would format it without --destroy
  bool needs_destroy = false;    // only its contents speak against it
  std::string why_not;           // the refusal, empty when accepted
};

/// All block devices that have a size: disks, partitions, attached loop devices. Touches nothing. Throws CannotTell's
/// text as RunError("devices", ...) when /sys cannot be read.
std::vector<InventoryItem> list_devices(const GuardOptions& options);

}  // namespace mongo
