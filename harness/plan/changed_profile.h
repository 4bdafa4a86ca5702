#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/plan/cell.h"
#include "harness/plan/profile.h"

namespace mongo {

/// One of the numbers of a profile that a run may change.
struct ProfileNumber {
  const char* name;  // of the option, without "--"
  std::optional<std::string> RunRequest::*member;
  std::uint64_t least, most;
  bool is_size;  // may have a suffix; otherwise digits only
  bool is_list;  // comma-separated
};

inline constexpr std::size_t most_passes = 64;

/// In the order of the README.
const std::vector<ProfileNumber>& profile_numbers();

/// Reads what a user wrote for it. One number unless it is a list. Throws UsageError that begins with the option's
/// name.
std::vector<std::uint64_t> parse_profile_number(const ProfileNumber& number, const std::string& text);

/// The profile with the numbers of the request. What differs from the profile is added to its name in words, as in
/// "classic (write-size 8192)", so that its results are not taken for those of the profile. Throws UsageError when no
/// tree can be drawn from the numbers.
Profile changed_profile(const Profile& profile, const RunRequest& request);

}  // namespace mongo
