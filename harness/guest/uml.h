#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/interrupt.h"

// Part of the work in a User-mode Linux guest: a kernel that runs as an ordinary program and sees the host's files, for
// file systems that the host's own kernel lacks. This is the host's side; init.h is the guest's.

namespace mongo {

/// Why no guest can be run on this host, with what to install or do; nothing if one can. Starts linux.uml, but boots
/// nothing.
std::optional<std::string> why_no_guest();

/// The version of the guest's kernel as it says itself, "6.1.176"; empty when it cannot be started.
std::string guest_version();

/// Whether the guest's kernel has a file system, built in or as a module. kernel_type as in mount(8): "reiserfs".
bool guest_supports(const std::string& kernel_type);

struct GuestRequest {
  /// Block device or image file on the host: /dev/ubda in the guest. Empty: none.
  std::string device;
  /// An existing folder on the host, the only one that the guest can write into. "status" in it is the guest's.
  std::string folder;
  /// The type that the guest will mount, so that its modules are loaded. Empty: none.
  std::string filesystem;
  /// What the work in the guest is told: at most 24 words of any text. Some 2000 bytes in all; more is refused.
  std::vector<std::string> arguments;
  /// The program that is init in the guest, an absolute path. Empty: this program.
  std::string program;
  unsigned memory_mib = 512;
  /// From the start to the end of the guest, the boot included.
  std::chrono::milliseconds deadline{std::chrono::hours(1)};
  /// Is given each line that the guest told (tell_host), while the guest goes on, and the guest for read_guest_cpu.
  std::function<void(const std::string& line, pid_t guest)> on_line;
};

struct GuestResult {
  double seconds = 0;  // from start to end, the boot included
  /// CPU seconds of all processes of the guest as the host accounts for them: getrusage(2).
  double cpu_user_seconds = 0;
  double cpu_system_seconds = 0;
  int cpu = -1;         // the CPU that the guest was kept on; -1: any
  std::string console;  // the last 16 KiB of what kernel and work printed, without what was told to the host
  std::string failure;  // empty: the work reported status 0. Else what happened
  bool ok() const { return failure.empty(); }
};

/// Boots a guest, waits for its end and tells what came of it. Nothing of it is left on any way out, nor when this
/// process is killed. Throws RunError("guest", ...) when it cannot be started, and Interrupted once a signal has come;
/// what on_line throws ends the guest too. To be called from a process with a single thread.
GuestResult run_guest(const GuestRequest& request, const InterruptWatch& watch);

/// What the processes of a running guest have used since their start.
struct GuestCpu {
  std::map<pid_t, double> seconds_of;
  double first_second = 0, last_second = 0;  // when it was read, by the monotonic clock
  double seconds() const;
};

/// Source: the CPU clock of each process, in nanoseconds: clock_getcpuclockid(3). What has ended is not in it. What the
/// host calls user and system time says nothing of the guest's. Empty when there is no such guest.
GuestCpu read_guest_cpu(pid_t guest);

/// CPU seconds between two readings. Nothing when it is not known: a process has ended in between, or there was none.
std::optional<double> cpu_between(const GuestCpu& before, const GuestCpu& after);

}  // namespace mongo
