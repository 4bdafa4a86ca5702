#pragma once

#include <optional>
#include <string>

#include "fsdrivers/driver.h"
#include "harness/plan/cell.h"
#include "harness/process/runner.h"

namespace mongo {

/// Why this host cannot run a file system, with what to install or do; nothing if it can. Looks for the programs and
/// for the type in /proc/filesystems. With a runner, a kernel module is asked for where the type is missing (modprobe).
std::optional<std::string> why_unavailable(const fsdrivers::FilesystemDriver& driver, ProcessRunner* runner,
                                           const std::string& root = "/");

/// Why the programs that make the file system cannot be run; nothing if they can.
std::optional<std::string> why_no_programs(const fsdrivers::FilesystemDriver& driver);

/// Why this process may not format and mount; nothing if it may. An existing directory needs no leave.
std::optional<std::string> why_no_root(const fsdrivers::FilesystemDriver& driver);

/// Where a cell's phases can run.
struct ChosenEnvironment {
  Environment environment = Environment::host;  // never automatic
  std::optional<std::string> why_not;           // it cannot be run: what is missing, and what to install or do
};

/// Decides between the host and a guest. runner as in why_unavailable.
ChosenEnvironment choose_environment(const Cell& cell, ProcessRunner* runner);

}  // namespace mongo
