#pragma once

#include <string>
#include <vector>

namespace mongo {

/// One thing that was looked at on this host.
struct Finding {
  std::string what;  // "ext3", "drop_caches"
  bool good = false;
  std::string text;  // "can be run here", or what is missing and what to do
};

struct Diagnosis {
  std::vector<Finding> filesystems;
  std::vector<Finding> host;
  /// At least one file system can be made and run, if need be as root. dir, which makes none, does not count.
  bool can_run() const;
};

/// Looks at what runs need: programs and kernel support of each file system, root, loop devices, drop_caches, cgroups,
/// the results and state folders, the clock. Touches nothing.
Diagnosis diagnose(const std::string& results_folder);

}  // namespace mongo
