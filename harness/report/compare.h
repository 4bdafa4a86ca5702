#pragma once

#include <string>
#include <vector>

#include "harness/core/record.h"

namespace mongo {

enum class CompareFigures {
  measured,  // seconds and KiB
  ratios,    // to those of the first run
};

/// The runs side by side, as published tables show them: a table for each median file size, phases down, one column a
/// run in the order given. Times in seconds, used space in KiB; or both as multiples of the first run's figure of the
/// same row, which has 1.00 then. A cell without a figure is "-" with a mark, and the reason stands under the table.
/// Differences that make the figures not comparable are named above the tables, and so is once what all runs share and
/// is not the default. The best time of a row has a "*" where there are times that can be put in an order. What has to
/// be known before a time is used stands under the table too. ASCII only; about 100 columns wide for five runs.
std::string side_by_side(const std::vector<RunRecord>& runs, CompareFigures figures = CompareFigures::measured);

}  // namespace mongo
