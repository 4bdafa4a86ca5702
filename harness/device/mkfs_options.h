#pragma once

#include <string>
#include <vector>

namespace mongo {

/// mkfs takes more devices than the one meant: as a further word, or inside an option (-J device=, -l logdev=, -d
/// name=). Throws UsageError for a word, or a part of one after '=' or ',' or an option letter, that names anything
/// that exists. mkfs runs in "/", so relative names are looked up from there. Numbers that happen to be file names
/// there are refused too.
void check_mkfs_options(const std::vector<std::string>& words);

}  // namespace mongo
