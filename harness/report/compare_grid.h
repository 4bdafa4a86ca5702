#pragma once

#include <string>
#include <vector>

#include "harness/report/column_names.h"

namespace mongo {

struct CompareRow {
  std::string label;
  std::vector<std::string> cells;  // a figure, then "*" if it is the best, then " [1]" if there is a footnote
  bool any_best = false;
};

/// The rows under the names of the columns. Figures of a column end at the same place; marks hang out to the right.
std::string compare_grid(const std::vector<CompareRow>& rows, const std::vector<ColumnName>& names);

}  // namespace mongo
