#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/plan/matrix_document.h"

namespace mongo {

/// A cell before it is a run: for each of matrix_keys() what the matrix or an include says about it, or null. Neither
/// defaults nor the contents of option sets are in it.
struct PlannedCell {
  std::vector<const MatrixValue*> values;
};

/// The product of the axes without what exclude matches, then what include adds; in the order of the file, the first
/// axis changing slowest. The pointers are into the document. Warnings are added. Throws UsageError.
///
/// exclude: an entry removes each cell of the product that has all of its values.
/// include, in its order: an entry whose keys that are axes all agree with a cell of the product gives that cell its
/// other values, and so for each such cell; values of earlier entries are replaced, those of the axes never. An entry
/// that agrees with no cell is a cell of its own, with its own values and the defaults only. Cells that entries have
/// made are not extended.
std::vector<PlannedCell> plan_cells(const YamlDocument& yaml, MatrixDocument& document);

/// What a cell is with everything: defaults, then its option set, then its own values.
PlannedCell with_defaults(const YamlDocument& yaml, const MatrixDocument& document, const PlannedCell& cell);

/// The same for the same parameters, whatever else is in the file: what can be read of them, and a hash of all.
std::string cell_id(const PlannedCell& complete, std::size_t hash_digits);

}  // namespace mongo
