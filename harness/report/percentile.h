#pragma once

#include <optional>
#include <vector>

#include "harness/core/record.h"

namespace mongo {

/// The value in nanoseconds that `percent` of all operations together did not exceed, from the histograms of the
/// record: the middle of its bucket, never above the maximum. Null when the count does not support it, that is when
/// fewer than one value would lie above, and when a histogram is missing.
std::optional<double> merged_percentile_ns(const std::vector<LatencyRecord>& latencies, double percent);

}  // namespace mongo
