#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/descriptor.h"

namespace mongo {

/// A program that runs beside this one, such as a daemon. It gets LC_ALL=C, no stdin, "/" as its folder, a process
/// group of its own, and SIGKILL when this process dies. What it writes is kept.
class BackgroundProcess {
 public:
  /// Throws RunError("exec", ...) if it cannot be started. argv[0] as in Command.
  explicit BackgroundProcess(const std::vector<std::string>& argv);
  /// Ends it with SIGKILL where end() was not called. Does nothing in a process forked from the one that made it.
  ~BackgroundProcess();
  BackgroundProcess(const BackgroundProcess&) = delete;
  BackgroundProcess& operator=(const BackgroundProcess&) = delete;

  pid_t pid() const { return pid_; }
  /// How it ended, as waitpid(2) says it; nothing while it runs.
  std::optional<int> ended();
  /// Sends the signal to its group and waits; after `patience` SIGKILL, and waits for that, at most a minute. Returns
  /// how it ended; nothing where it did not.
  std::optional<int> end(int signal, std::chrono::milliseconds patience);
  /// What it has written to stdout and stderr, at most the first 64 KiB.
  std::string output() const;

 private:
  std::optional<int> wait(std::chrono::milliseconds patience);

  pid_t pid_ = -1;
  pid_t owner_;
  Descriptor output_;
  std::optional<int> status_;
};

}  // namespace mongo
