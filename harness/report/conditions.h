#pragma once

#include <string>
#include <vector>

#include "harness/core/record.h"

// Under which conditions figures were measured: what every table has to say beside them.

namespace mongo {

/// "host", or "uml (Linux 6.1.176)".
std::string environment_text(const RunRecord& run);

/// What an existing directory lies on, "tmpfs"; empty for all other runs.
std::string directory_filesystem(const RunRecord& run);

/// "warm", "drop", "remount instead of drop".
std::string cache_state(const CacheRecord& cache);

/// The same and why: "remount instead of drop (drop_caches: EACCES)".
std::string cache_text(const CacheRecord& cache);

/// What caches the phases of a pass found, with the names of the phases: "drop before read, stat"; without them when
/// all are alike. Empty when all are warm as was asked.
std::string cache_summary(const PassRecord& pass);

struct Condition {
  std::string key;
  std::string value;
};

/// For the text files: the sync policy, and what else differs from the default (cache, content, verify,
/// fragments_method), then the flags and the warnings of the run. pass may be null.
std::vector<Condition> conditions(const RunRecord& record, const PassRecord* pass);

/// The sync policy in words, for people: "fsync after each file"; empty for the default.
std::string sync_text(const std::string& sync);

/// "1 process", "4 processes".
std::string process_count(int processes);

/// The flag with what it means: "loop-device: figures from a loop device are for trying out, ..."; the flag alone when
/// this version does not know it.
std::string flag_text(const std::string& flag);

}  // namespace mongo
