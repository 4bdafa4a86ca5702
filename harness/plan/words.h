#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mongo {

/// Splits a text into words as a POSIX shell would (blanks, single and double quotes, backslash), but expands nothing:
/// $, *, ~ and ` are ordinary characters. Throws UsageError for a quote or a backslash that is not ended.
/// Source: POSIX.1-2017, Shell Command Language, 2.2 Quoting.
std::vector<std::string> split_words(std::string_view text);

/// Splits at commas; empty parts are kept.
std::vector<std::string> split_commas(std::string_view text);

/// The candidate nearest to a misspelt word; empty when none is near (two letters differ, or a third), and when several
/// are equally near: ext5 is none of ext2, ext3 and ext4.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace mongo
