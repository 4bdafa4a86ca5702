#pragma once

#include <vector>

#include "harness/report/format.h"

namespace mongo {

/// Every form that has a file in harness/report/formats/, in the order in which the files are written. CMake makes the
/// list from the folder.
const std::vector<const Format*>& formats();

}  // namespace mongo
