#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fsdrivers/driver.h"
#include "harness/core/device_spec.h"
#include "harness/plan/profile.h"

namespace mongo {

/// A run as the user wrote it.
struct RunRequest {
  std::string filesystem, device, mount_point, log, processes;
  std::string profile = "classic";
  std::optional<std::string> phases;       // comma-separated names
  std::optional<std::string> repetitions;  // a decimal number
  std::string mkfs_options;                // words as a shell would split them
  std::string mount_options;               // comma-separated
  std::string results = "results";
  bool destroy = false;
  bool latency = true;  // measure how long each operation takes
};

/// One run with everything decided that can be decided without looking at the host.
struct Cell {
  const fsdrivers::FilesystemDriver* driver = nullptr;
  DeviceSpec device;
  std::string mount_point;
  std::string log;
  int processes = 1;
  int repetitions = 3;
  Profile profile;
  std::vector<const phases::Phase*> phases;  // in the order in which they run
  std::vector<std::string> mkfs_options;
  std::string mount_options;  // the driver's and the user's
  std::string results;
  bool destroy = false;
  bool latency = true;
};

inline constexpr int max_processes = 1000;
inline constexpr int max_repetitions = 1000;

/// Throws UsageError that names the argument, what is wrong with it and what is allowed. Touches nothing.
Cell resolve(const RunRequest& request);

/// A whole decimal number from `least` to `most`: digits only, no sign, no blank, no leading zero. `what` names it in
/// the error.
int parse_count(const std::string& text, const std::string& what, int least, int most);

/// "Creates 68952 files ...": one line a pass, for --dry-run.
std::string describe_pass(const Cell& cell, const phases::TreeParameters& tree);

}  // namespace mongo
