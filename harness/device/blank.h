#pragma once

#include <cstdint>
#include <optional>
#include <string>

// Whether anything is written on a device or image, whatever it is. Private to harness/device.

namespace mongo {

/// The offset of the first byte that is not 0, among those that are looked at: the first and last 4 MiB, and in between
/// everything when that is little, else 500 blocks of 4 KiB spread evenly. Holes of an image (the path itself, or the
/// file behind a loop device) are left out of what is between. Throws RunError("probe", ...) when it cannot be read.
std::optional<std::uint64_t> first_data(const std::string& path);

/// Writes zeros over what first_data() would look at, from the end to the beginning: a signature at the beginning,
/// which says whose the rest is, goes last. `node` is the block device that `fd` is open on. Throws RunError("wipe",
/// ...).
void make_blank(int fd, const std::string& node);

}  // namespace mongo
