#pragma once

#include <functional>
#include <string>
#include <vector>

// The inside of a guest that run_guest (uml.h) has booted, where this program is init.

namespace mongo {

/// Whether this process is init of such a guest: the first process, with the word of the boot in its environment, and
/// the host's files as its root.
bool is_guest_init();

/// What the work in a guest is given.
struct GuestJob {
  std::string folder;                  // the host's output folder; what is written there stays
  std::string device;                  // "/dev/ubda", or empty
  std::string mount_point;             // an empty directory to mount the device on
  std::vector<std::string> arguments;  // as in GuestRequest
};

/// Mounts what a program expects (proc, sysfs, devices, empty file systems in memory on /run and /tmp), loads the
/// modules, does the work in a process of its own, reports its status and switches the guest off. What the work throws
/// is reported as its message. To be called where is_guest_init().
[[noreturn]] void guest_main(const std::function<int(const GuestJob& job)>& work);

/// A line for the host's on_line, from any process of the guest. Line feeds become blanks.
void tell_host(const std::string& line);

}  // namespace mongo
