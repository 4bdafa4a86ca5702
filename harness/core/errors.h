#pragma once

#include <stdexcept>
#include <string>

namespace mongo {

/// The documented exit statuses of the tool. An interruption ends with 128 + the signal's number.
enum class ExitStatus : int {
  ok = 0,
  failed = 1,
  usage = 2,
  device_refused = 3,
  unsupported = 4,
  incomplete = 5,
};

/// Base of all errors that are shown to the user as they are. The text says what was tried, what happened and what to
/// do.
class Error : public std::runtime_error {
 public:
  Error(ExitStatus status, const std::string& message) : std::runtime_error(message), status_(status) {}
  ExitStatus status() const { return status_; }

 private:
  ExitStatus status_;
};

/// Arguments or files of the user that cannot be meant. Nothing has been touched.
struct UsageError : Error {
  explicit UsageError(const std::string& message) : Error(ExitStatus::usage, message) {}
};

/// The device or the mount point may not be used. Nothing has been touched.
struct DeviceRefused : Error {
  explicit DeviceRefused(const std::string& message) : Error(ExitStatus::device_refused, message) {}
};

/// The file system cannot be run on this host. Nothing has been touched.
struct Unsupported : Error {
  explicit Unsupported(const std::string& message) : Error(ExitStatus::unsupported, message) {}
};

/// Something that should have worked did not. `step` is the part of the run, e.g. "mkfs" or "mount".
class RunError : public Error {
 public:
  RunError(std::string step, const std::string& message)
      : Error(ExitStatus::failed, step + ": " + message), step_(std::move(step)) {}
  const std::string& step() const { return step_; }

 private:
  std::string step_;
};

/// A signal, or a reader that went away, asked for the end of the run.
class Interrupted : public std::runtime_error {
 public:
  /// `where`: what was going on, "create at 100 bytes"; empty: nothing is said about it.
  explicit Interrupted(int signal_number, const std::string& where = "");
  int signal_number() const { return signal_number_; }

 private:
  int signal_number_;
};

/// "strerror text (ERRNAME)" for an errno value, e.g. "No space left on device (ENOSPC)".
std::string errno_text(int error_number);

/// What to do when the node of a kernel module, such as /dev/fuse, could not be opened for that reason.
std::string missing_node_advice(const std::string& module, int error_number);

/// The symbolic name of an errno value, e.g. "ENOSPC"; "errno 4711" for one that the C library does not know.
std::string errno_name(int error_number);

}  // namespace mongo
