#include "phases/support/ticks.h"

#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include <memory>

#include "phases/support/latency.h"

namespace mongo::phases {
namespace {

TEST(Ticks, ScaleIsNanosecondsATickTimes2To32) {
  EXPECT_EQ(ticks_to_ns(1000, std::uint64_t{1} << 31), 500U);
  EXPECT_EQ(ticks_to_ns(std::uint64_t{1} << 60, std::uint64_t{1} << 31), std::uint64_t{1} << 59);
}

TEST(Ticks, AnotherClockSourceHasNone) {
  EXPECT_EQ(TickCalibration("/dev/null").scale(), 0U);
  EXPECT_EQ(TickCalibration("/nowhere").scale(), 0U);
}

TEST(Ticks, AgreeWithTheMonotonicClock) {
  const TickCalibration calibration;
  usleep(50'000);
  const std::uint64_t scale = calibration.scale();
  if (scale == 0) GTEST_SKIP() << "the kernel's clock source is not tsc";
  timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  const std::uint64_t first = read_ticks();
  usleep(100'000);
  const std::uint64_t last = read_ticks();
  clock_gettime(CLOCK_MONOTONIC, &after);
  const double clock =
      static_cast<double>(after.tv_sec - before.tv_sec) * 1e9 + static_cast<double>(after.tv_nsec - before.tv_nsec);
  EXPECT_NEAR(static_cast<double>(ticks_to_ns(last - first, scale)) / clock, 1, 0.001);
}

TEST(Ticks, TheLatencyClockTellsNanosecondsEitherWay) {
  const TickCalibration calibration;
  usleep(50'000);
  for (const std::uint64_t scale : {std::uint64_t{0}, calibration.scale()}) {
    auto latencies = std::make_unique<Latencies>();
    latencies->tick_scale = scale;
    LatencyClock clock(latencies.get());
    usleep(20'000);
    clock.operation_ended(Operation::read);
    const Histogram& read = latencies->of[static_cast<std::size_t>(Operation::read)];
    EXPECT_EQ(read.count, 1U);
    EXPECT_GE(read.max_ns, 19'900'000U) << scale;
    EXPECT_LT(read.max_ns, 2'000'000'000U) << scale;
  }
}

}  // namespace
}  // namespace mongo::phases
