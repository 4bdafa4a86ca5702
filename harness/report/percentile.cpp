#include "harness/report/percentile.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

namespace mongo {
namespace {

/// The largest value of the bucket that begins here; LatencyRecord tells how wide buckets are.
double highest(std::uint64_t lowest) {
  if (lowest < 256) return static_cast<double>(lowest);
  const auto exponent = static_cast<unsigned>(std::bit_width(lowest)) - 1;
  return static_cast<double>(lowest) + static_cast<double>((std::uint64_t{1} << (exponent - 7)) - 1);
}

}  // namespace

std::optional<double> merged_percentile_ns(const std::vector<LatencyRecord>& latencies, double percent) {
  std::map<std::uint64_t, double> buckets;
  double count = 0;
  std::uint64_t max_ns = 0;
  for (const LatencyRecord& latency : latencies) {
    if (latency.count > 0 && latency.histogram.empty()) return std::nullopt;
    for (const auto& [lowest, values] : latency.histogram) {
      buckets[lowest] += static_cast<double>(values);
      count += static_cast<double>(values);
    }
    max_ns = std::max(max_ns, latency.max_ns);
  }
  // A hair of tolerance, as where the percentiles of the record come from.
  if (count * (100 - percent) / 100 < 1 - 1e-9) return std::nullopt;
  const double rank = std::ceil(count * percent / 100 - 1e-9);
  double seen = 0;
  for (const auto& [lowest, values] : buckets) {
    seen += values;
    if (seen < rank) continue;
    return std::min((static_cast<double>(lowest) + highest(lowest)) / 2, static_cast<double>(max_ns));
  }
  return std::nullopt;
}

}  // namespace mongo
