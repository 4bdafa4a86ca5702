#pragma once

#include <string_view>
#include <vector>

#include "fsdrivers/driver.h"

namespace mongo::fsdrivers {

/// Every file system that has a driver in fsdrivers/, sorted by name. CMake makes the list from the folder.
const std::vector<FilesystemDriver>& catalogue();

/// The driver of that name, or null.
const FilesystemDriver* find(std::string_view name);

}  // namespace mongo::fsdrivers
