#pragma once

#include <chrono>
#include <string>

namespace mongo {

/// Waits until the daemon behind a FUSE file system has answered every request, at most for `patience`. The kernel
/// sends "close" without waiting, and an unmount drops those that the daemon has not read: zfs-fuse 0.7.0 then waits
/// forever for files that it takes for open. Asks fusectl, which is mounted for that in a private mount namespace where
/// nobody has it; without it this is a guess of some time. Does nothing where no FUSE file system is mounted on the
/// point.
void wait_for_fuse_requests(const std::string& point, std::chrono::milliseconds patience);

}  // namespace mongo
