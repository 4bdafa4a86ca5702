#pragma once

#include <string>
#include <vector>

#include "phases/phase.h"

namespace mongo {

/// What a run writes: one tree a pass, each pass on a fresh file system.
struct Profile {
  std::string name;
  std::string summary;  // one line for --help
  std::vector<phases::TreeParameters> passes;
  std::size_t write_buffer_size = 4096;  // bytes
  int repetitions = 3;
};

/// The profiles that can be named: classic, ltp, smoke.
const std::vector<Profile>& profiles();

/// Throws UsageError that lists the names.
const Profile& find_profile(const std::string& name);

}  // namespace mongo
