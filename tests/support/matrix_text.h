#pragma once

#include <set>
#include <string>

#include "harness/plan/matrix_document.h"

namespace mongo {

/// A matrix file that says what was understood.
std::string write_matrix(const MatrixDocument& document);

/// All that stands in a matrix file, read without knowing what it means: "include/0/phases=create" for each value, with
/// the parts of lists one by one, and "option_sets/plain/" for what is empty. The positions in lists of values are left
/// out. What can be written in two places has one: defaults/device is device, devices is matrix/device.
std::multiset<std::string> said_in_matrix(const std::string& text);

}  // namespace mongo
