#pragma once

#include <chrono>
#include <string>

namespace mongo {

/// Waits until a block device can be opened exclusively, for as long as patience allows. Meant for the time after an
/// unmount and before a format: udev and desktop automounters open a device for some 100 ms whenever something has
/// written to it. Returns how long it waited (about 0 when the device was free). Throws RunError("device busy", ...)
/// that names the processes that have the device open, where they can be found. Source: O_EXCL in open(2).
std::chrono::milliseconds wait_until_free(const std::string& node, std::chrono::milliseconds patience);

}  // namespace mongo
