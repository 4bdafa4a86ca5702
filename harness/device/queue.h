#pragma once

#include <string>

#include "harness/core/record.h"

namespace mongo {

/// Adds to the record how the kernel queues the requests of a device ("8:17"): scheduler, write_cache, rotational,
/// queue_depth, logical_sector_bytes and physical_sector_bytes; of a partition its disk's. What `root` does not tell
/// stays empty. Never throws. Source: Documentation/ABI/stable/sysfs-block.
void describe_queue(const std::string& major_minor, DeviceRecord& device, const std::string& root = "/");

}  // namespace mongo
