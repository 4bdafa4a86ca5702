#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "harness/core/interrupt.h"

namespace mongo {

/// An external program with its arguments. argv[0] is a name that is looked up in PATH and the sbin folders, or a path.
struct Command {
  std::vector<std::string> argv;
  std::chrono::milliseconds deadline{std::chrono::minutes(10)};
};

struct CommandResult {
  int exit_status = 0;  // when it exited
  int signal = 0;       // when a signal ended it, else 0
  bool timed_out = false;
  std::string out;  // stdout; at most 1 MiB is kept
  std::string err;  // stderr; at most 1 MiB is kept
  std::chrono::duration<double> seconds{0};
  bool ok() const { return exit_status == 0 && signal == 0 && !timed_out; }
};

/// Runs external programs. The one real implementation is the only user of Boost.Process; tests bring their own.
class ProcessRunner {
 public:
  virtual ~ProcessRunner() = default;
  /// Runs the program to its end, in "/". It gets LC_ALL=C, no stdin, a process group of its own, and SIGKILL when the
  /// deadline passes or when this process dies. Throws RunError("exec", ...) if it cannot be started.
  virtual CommandResult run(const Command& command) = 0;
};

/// Runs programs for real.
class RealRunner : public ProcessRunner {
 public:
  /// A watch ends a running program, with Interrupted, once a signal has come. Without one it runs to its end: for
  /// undoing.
  explicit RealRunner(const InterruptWatch* watch = nullptr) : watch_(watch) {}
  CommandResult run(const Command& command) override;

 private:
  CommandResult run_program(const Command& command);
  const InterruptWatch* watch_;
};

/// Where a program is, looked up in PATH, then /usr/local/sbin, /usr/sbin and /sbin; empty if nowhere.
std::string find_program(const std::string& name);

/// "the program mkfs.xfs is not in PATH (/usr/bin:/bin), /usr/local/sbin, /usr/sbin or /sbin": where find_program
/// looked.
std::string not_found_text(const std::string& name);

/// The one line of a program's output that tells why it failed: from stderr, else from stdout; never its usage text.
std::string useful_line(const CommandResult& result);

/// Runs and throws RunError(step, argv, exit status, useful line) unless the program exits 0.
CommandResult run_checked(ProcessRunner& runner, const Command& command, const std::string& step);

}  // namespace mongo
