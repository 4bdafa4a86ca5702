#pragma once

#include <string_view>
#include <vector>

#include "phases/phase.h"

namespace mongo::phases {

/// Every phase that has a file in phases/, in the order in which they run. CMake makes the list from the folder.
const std::vector<const Phase*>& catalogue();

/// The phase of that name, or null.
const Phase* find(std::string_view name);

}  // namespace mongo::phases
