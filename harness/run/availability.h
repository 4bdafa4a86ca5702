#pragma once

#include <optional>
#include <string>

#include "fsdrivers/driver.h"
#include "harness/process/runner.h"

namespace mongo {

/// Why this host cannot run a file system, with what to install or do; nothing if it can. Looks for the programs and
/// for the type in /proc/filesystems. With a runner, a kernel module is asked for where the type is missing (modprobe).
std::optional<std::string> why_unavailable(const fsdrivers::FilesystemDriver& driver, ProcessRunner* runner,
                                           const std::string& root = "/");

}  // namespace mongo
