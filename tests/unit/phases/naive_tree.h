#pragma once

#include <map>
#include <string>

#include "phases/phase.h"

namespace mongo::phases::testing {

/// The tree written down straight from its description, with lists, recursion and the C library's own rand().
/// Relative path -> size, or -1 for a directory.
std::map<std::string, long long> naive_tree(const TreeParameters& parameters);

/// How large the modulus of one draw would be; a tree needs it from 1 to 2^31 - 1.
double naive_modulus(std::uint64_t median, std::uint64_t max);

}  // namespace mongo::phases::testing
