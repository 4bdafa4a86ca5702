#include "harness/measure/clock.h"

#include <gtest/gtest.h>

#include <ctime>

namespace mongo {
namespace {

constexpr std::uint64_t second = 1'000'000'000;

TEST(Clock, SuspendedIsWhatBoottimeHasMore) {
  const ClockReading before{10 * second, 100 * second};
  EXPECT_EQ(suspended_seconds(before, {15 * second, 105 * second}), 0);
  EXPECT_DOUBLE_EQ(suspended_seconds(before, {15 * second, 110 * second + second / 2}), 5.5);
  EXPECT_DOUBLE_EQ(suspended_seconds(before, {15 * second, 105 * second + second / 1000}), 0.001);
}

TEST(Clock, WhatLiesBetweenTheTwoReadingsIsNoSleep) {
  const ClockReading before{10 * second, 10 * second};
  EXPECT_EQ(suspended_seconds(before, {15 * second, 15 * second + 999'999}), 0);
  EXPECT_EQ(suspended_seconds(before, {15 * second, 15 * second - 999'999}), 0);
  EXPECT_EQ(suspended_seconds(before, {15 * second, 12 * second}), 0) << "never negative";
  // Where the machine has slept before, and the readings are the other way round
  EXPECT_EQ(suspended_seconds({10 * second, 10 * second + 500}, {15 * second, 15 * second}), 0);
}

TEST(Clock, ThisMachineDoesNotSleepInATest) {
  const ClockReading before = read_clocks();
  for (int i = 0; i < 1000; ++i) {
    const ClockReading after = read_clocks();
    ASSERT_GE(after.monotonic_ns, before.monotonic_ns);
    ASSERT_GE(after.boottime_ns, after.monotonic_ns - second);
    ASSERT_EQ(suspended_seconds(before, after), 0);
  }
}

TEST(Clock, TooShortIsBelowAHundredSteps) {
  EXPECT_TRUE(too_short(0, 1));
  EXPECT_TRUE(too_short(-1, 1));
  EXPECT_TRUE(too_short(0, 0));
  EXPECT_FALSE(too_short(1e-9, 0));
  EXPECT_TRUE(too_short(99e-9, 1));
  EXPECT_FALSE(too_short(101e-9, 1));
  EXPECT_TRUE(too_short(0.39, 4'000'000)) << "a clock that ticks 250 times in a second";
  EXPECT_FALSE(too_short(0.41, 4'000'000));
}

TEST(Clock, SmallestStep) {
  EXPECT_EQ(smallest_step({}), 0U);
  EXPECT_EQ(smallest_step({5}), 0U);
  EXPECT_EQ(smallest_step({5, 5, 5}), 0U);
  EXPECT_EQ(smallest_step({5, 5, 45, 45, 65, 100}), 20U);
  EXPECT_EQ(smallest_step({5, 3, 10}), 7U) << "backwards is no step";
}

TEST(Clock, TheResolutionIsNotBelowTheKernels) {
  timespec claimed{};
  ASSERT_EQ(clock_getres(CLOCK_MONOTONIC, &claimed), 0);
  const std::uint64_t resolution = measure_clock_resolution();
  EXPECT_GE(resolution, static_cast<std::uint64_t>(claimed.tv_nsec));
  EXPECT_GT(resolution, 0U);
  EXPECT_LT(resolution, second / 10);
}

}  // namespace
}  // namespace mongo
