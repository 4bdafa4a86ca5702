#include "harness/measure/latency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

namespace mongo {
namespace {

using phases::Histogram;

TEST(Histogram, BucketsAreWithoutGapAndNarrow) {
  for (std::size_t i = 0; i < Histogram::buckets; ++i) {
    const std::uint64_t low = Histogram::lowest(i), next = Histogram::lowest(i + 1);
    ASSERT_LT(low, next);
    ASSERT_EQ(Histogram::index_of(low), i);
    ASSERT_EQ(Histogram::index_of(next - 1), i);
    if (low >= 256) {
      ASSERT_LE(static_cast<double>(next - low) / static_cast<double>(low), 1.0 / 128);
    }
  }
  EXPECT_EQ(Histogram::index_of(~std::uint64_t{0}), Histogram::buckets - 1)
      << "what is longer is counted as the longest";
}

TEST(Histogram, PercentilesAreAtMostOnePercentOff) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> spread(8, 2);
  const auto histogram = std::make_unique<Histogram>();
  std::vector<std::uint64_t> values;
  for (int i = 0; i < 100'000; ++i) {
    values.push_back(static_cast<std::uint64_t>(spread(random)));
    histogram->record(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const double percent : {50.0, 95.0, 99.0, 99.9}) {
    const auto rank = static_cast<std::size_t>(std::ceil(100'000 * percent / 100 - 1e-9));
    const auto exact = static_cast<double>(values[rank - 1]);
    EXPECT_NEAR(percentile_ns(*histogram, percent).value(), exact, exact * 0.01 + 0.5) << percent;
  }
  EXPECT_EQ(histogram->max_ns, values.back());
}

TEST(Histogram, APercentileNeedsAValueAboveIt) {
  const auto histogram = std::make_unique<Histogram>();
  EXPECT_FALSE(percentile_ns(*histogram, 50).has_value());
  for (int i = 0; i < 999; ++i) histogram->record(100);
  EXPECT_TRUE(percentile_ns(*histogram, 99).has_value());
  EXPECT_FALSE(percentile_ns(*histogram, 99.9).has_value());
  histogram->record(100);
  EXPECT_EQ(percentile_ns(*histogram, 99.9), 100);
}

TEST(Histogram, MergedIsAsIfOneHadSeenAll) {
  const auto one = std::make_unique<Histogram>(), other = std::make_unique<Histogram>(),
             all = std::make_unique<Histogram>();
  for (std::uint64_t ns = 1; ns < 1'000'000; ns = ns * 3 + 1) {
    (ns % 2 == 0 ? one : other)->record(ns);
    all->record(ns);
  }
  phases::merge(*one, *other);
  EXPECT_EQ(one->count, all->count);
  EXPECT_EQ(one->sum_ns, all->sum_ns);
  EXPECT_EQ(one->max_ns, all->max_ns);
  EXPECT_TRUE(std::equal(std::begin(one->counts), std::end(one->counts), std::begin(all->counts)));
}

TEST(Latencies, OnlyWhatOccurredIsInTheRecord) {
  const auto latencies = std::make_unique<phases::Latencies>();
  latencies->of[static_cast<std::size_t>(phases::Operation::rename)].record(1000);
  latencies->of[static_cast<std::size_t>(phases::Operation::rename)].record(3000);
  const std::vector<LatencyRecord> records = summarise(*latencies);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].operation, "rename");
  EXPECT_EQ(records[0].count, 2U);
  EXPECT_EQ(records[0].mean_ns, 2000);
  EXPECT_EQ(records[0].max_ns, 3000U);
  ASSERT_EQ(records[0].histogram.size(), 2U);
  EXPECT_LE(records[0].histogram[0].first, 1000U);
  EXPECT_EQ(records[0].histogram[0].second, 1U);
}

}  // namespace
}  // namespace mongo
