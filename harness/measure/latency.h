#pragma once

#include <optional>
#include <vector>

#include "harness/core/record.h"
#include "phases/support/latency.h"

namespace mongo {

/// The value below which the share `percent` of all lies, in nanoseconds: the middle of its bucket, never above the
/// maximum. Null when the count does not support it, that is when fewer than one value would lie above.
std::optional<double> percentile_ns(const phases::Histogram& histogram, double percent);

/// Of all operations that occurred, in the order of phases::Operation.
std::vector<LatencyRecord> summarise(const phases::Latencies& latencies);

}  // namespace mongo
