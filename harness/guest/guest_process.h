#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "harness/core/descriptor.h"

// Starts a program so that nothing of it can outlive this process. Private to harness/guest.

namespace mongo::guest {

/// How it ended.
struct GuestEnd {
  bool reported = false;  // false: the keeper was killed, so nobody knows about the program
  int exit_status = 0;    // when the program exited
  int signal = 0;         // when a signal ended it, else 0
  rusage used{};          // all its processes
};

/// A program and all that it starts, in a PID namespace whose first process, the keeper, does nothing but wait for the
/// program's end. With the keeper the kernel ends every process of the namespace at once, and the keeper ends with this
/// process (PR_SET_PDEATHSIG). Killing linux.uml alone would not do: the guest's processes, which it traces, would go
/// on as processes of the host. Ctrl-C does not reach it: the keeper leads a process group, linux.uml a session.
class GuestProcess {
 public:
  struct Plan {
    std::vector<std::string> argv;  // argv[0] is a path
    std::vector<std::string> environment;
    std::vector<int> kept;  // descriptors that the program gets under their numbers, 0 to 2 excepted
    int cpu = -1;           // the CPU to stay on; -1: any
  };

  /// Throws RunError("guest", ...) when no process can be started.
  explicit GuestProcess(const Plan& plan);
  /// Kills what still runs and waits until it is gone.
  ~GuestProcess();
  GuestProcess(const GuestProcess&) = delete;
  GuestProcess& operator=(const GuestProcess&) = delete;

  /// The keeper.
  pid_t pid() const { return pid_; }
  /// Readable when the keeper has ended; for poll(2).
  int ended() const { return pidfd_.get(); }
  /// stdout and stderr of the program, not blocking.
  int console() const { return console_.get(); }
  /// Kills what still runs and waits until all of it is gone. Throws RunError("guest", ...) when the program could not
  /// be started.
  GuestEnd finish();

 private:
  void end_all();
  pid_t pid_ = -1;
  Descriptor pidfd_;
  Descriptor console_;
  Descriptor report_;
  int status_ = 0;
  rusage used_{};
};

/// The last CPU that this process may use: the first ones have more of the host's own work. -1: cannot be told.
int choose_cpu();

}  // namespace mongo::guest
