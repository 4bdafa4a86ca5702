#pragma once

#include <sys/types.h>

#include <string>

#include "harness/core/record.h"

namespace mongo {

/// The type of the file system that a file lies on, by the number of its device: "ext4", "tmpfs"; empty when no mount
/// has that number, as with subvolumes of btrfs.
std::string filesystem_of(dev_t device);

/// What a loop device that somebody else has attached is like: direct_io (/sys/block/loopN/loop/dio), preallocated and
/// backing_filesystem of the file that the kernel names. What cannot be found out stays empty. Never throws.
void describe_foreign_loop(DeviceRecord& device);

/// Writes what the file has in the page cache and drops it from there. For the file behind a loop device that somebody
/// else has attached. Throws RunError("drop caches", ...).
void drop_file_cache(const std::string& path);

}  // namespace mongo
