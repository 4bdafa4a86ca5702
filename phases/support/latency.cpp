#include "phases/support/latency.h"

#include <algorithm>

namespace mongo::phases {

void merge(Histogram& into, const Histogram& from) {
  if (from.count == 0) return;
  into.count += from.count;
  into.sum_ns += from.sum_ns;
  into.max_ns = std::max(into.max_ns, from.max_ns);
  for (std::size_t i = 0; i < Histogram::buckets; ++i) into.counts[i] += from.counts[i];
}

void merge(Latencies& into, const Latencies& from) {
  for (std::size_t i = 0; i < operation_count; ++i) merge(into.of[i], from.of[i]);
}

}  // namespace mongo::phases
