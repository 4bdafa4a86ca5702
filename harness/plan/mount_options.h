#pragma once

#include <string>

namespace mongo {

/// Refuses words that would make mount do something else than mount the device: loop, bind, remount, ro, ... Throws
/// UsageError that begins with "--mount-options: ".
void check_mount_options(const std::string& options);

}  // namespace mongo
