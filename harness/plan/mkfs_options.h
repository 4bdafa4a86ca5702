#pragma once

#include <string>
#include <vector>

namespace mongo {

/// What a user may say to the mkfs of a file system.
struct MkfsRules {
  std::string filesystem;                       // for messages
  std::vector<std::string> options;             // "-j", "-N COUNT", "--mixed", "--nodesize SIZE"
  std::vector<std::string> refused_suboptions;  // "device", as in "-J device=..."
};

/// mkfs takes more devices than the one meant: as a further word, or inside an option. So only options that are known
/// to be harmless are let through, read as getopt(3) and getopt_long(3) read them: -jN 400, -N400, --nodesize=4096.
/// Throws UsageError that names the word and the reason for everything else: other options, abbreviated ones, further
/// words, missing values, values with a part that is refused, a '/' or a tag such as UUID=, and what names anything
/// that exists in "/", where mkfs runs.
void check_mkfs_options(const MkfsRules& rules, const std::vector<std::string>& words);

}  // namespace mongo
