#include "harness/measure/latency.h"

#include <algorithm>
#include <cmath>

namespace mongo {

std::optional<double> percentile_ns(const phases::Histogram& histogram, double percent) {
  const double above = static_cast<double>(histogram.count) * (100 - percent) / 100;
  // A hair of tolerance: 1000 values do support 99.9, whatever 0.1 is in binary.
  if (histogram.count == 0 || above < 1 - 1e-9) return std::nullopt;
  const auto rank = static_cast<std::uint64_t>(std::ceil(static_cast<double>(histogram.count) * percent / 100 - 1e-9));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < phases::Histogram::buckets; ++i) {
    seen += histogram.counts[i];
    if (seen < rank) continue;
    const auto low = static_cast<double>(phases::Histogram::lowest(i));
    const auto high = static_cast<double>(phases::Histogram::lowest(i + 1) - 1);
    return std::min((low + high) / 2, static_cast<double>(histogram.max_ns));
  }
  return std::nullopt;
}

std::vector<LatencyRecord> summarise(const phases::Latencies& latencies) {
  std::vector<LatencyRecord> all;
  for (std::size_t operation = 0; operation < phases::operation_count; ++operation) {
    const phases::Histogram& histogram = latencies.of[operation];
    if (histogram.count == 0) continue;
    LatencyRecord record;
    record.operation = phases::operation_name(static_cast<phases::Operation>(operation));
    record.count = histogram.count;
    record.mean_ns = static_cast<double>(histogram.sum_ns) / static_cast<double>(histogram.count);
    record.p50_ns = percentile_ns(histogram, 50);
    record.p95_ns = percentile_ns(histogram, 95);
    record.p99_ns = percentile_ns(histogram, 99);
    record.p99_9_ns = percentile_ns(histogram, 99.9);
    record.max_ns = histogram.max_ns;
    for (std::size_t i = 0; i < phases::Histogram::buckets; ++i) {
      if (histogram.counts[i] > 0) record.histogram.emplace_back(phases::Histogram::lowest(i), histogram.counts[i]);
    }
    all.push_back(std::move(record));
  }
  return all;
}

}  // namespace mongo
