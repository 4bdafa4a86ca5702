#pragma once

#include <string>
#include <vector>

namespace mongo {

/// Rows as text, columns padded to their widest cell (in characters of UTF-8) and two blanks apart; the last column is
/// not padded.
std::string aligned(const std::vector<std::vector<std::string>>& rows);

}  // namespace mongo
