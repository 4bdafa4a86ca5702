#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <vector>

namespace mongo {

/// Which runs are kept; nothing set: all.
struct Keep {
  std::optional<int> runs;  // the newest so many, the current one among them
  std::optional<int> days;  // those of the last so many days
};

struct Pruned {
  std::vector<std::string> removed;   // names of runs
  std::vector<std::string> warnings;  // what was left and why
};

/// Removes old runs below `results`: folders with the name of a run that hold a cells.json and no file that is not the
/// tool's own. Never `current` (a name), and none that a process is at work in.
Pruned prune_runs(const std::string& results, const std::string& current, const Keep& keep, std::time_t now);

}  // namespace mongo
