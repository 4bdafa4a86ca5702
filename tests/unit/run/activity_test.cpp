#include "harness/measure/activity.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace mongo {
namespace {

/// A made-up /proc and /sys.
class ActivityTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/mongo-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = std::string(name) + "/";
    std::filesystem::create_directories(root_ + "sys/dev/block/8:17");
    std::filesystem::create_directories(root_ + "proc");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void stat(const std::string& text) { std::ofstream(root_ + "sys/dev/block/8:17/stat") << text; }
  std::string root_;
};

TEST_F(ActivityTest, DeviceCountersAreInSectorsOf512Bytes) {
  stat("     10   1   800  5  20  2  1600  7 0 9 12  3 0 64 1  4 2\n");
  const auto before = read_device_counters("8:17", root_);
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ(before->read_requests, 10U);
  EXPECT_EQ(before->read_bytes, 409600U);
  EXPECT_EQ(before->write_requests, 20U);
  EXPECT_EQ(before->written_bytes, 819200U);
  EXPECT_EQ(before->flushes, 4U);
  stat("11 1 808 5 25 2 1700 7 0 9 12 3 0 64 1 6 2");
  const DeviceActivity activity = activity_between(*before, *read_device_counters("8:17", root_));
  EXPECT_EQ(activity.read_requests, 1U);
  EXPECT_EQ(activity.read_bytes, 4096U);
  EXPECT_EQ(activity.write_requests, 5U);
  EXPECT_EQ(activity.written_bytes, 51200U);
  EXPECT_EQ(activity.flushes, 2U);
}

TEST_F(ActivityTest, OldKernelsTellNoFlushes) {
  stat("10 1 800 5 20 2 1600 7 0 9 12");
  EXPECT_EQ(read_device_counters("8:17", root_)->flushes, 0U);
}

TEST_F(ActivityTest, WhatCannotBeReadIsNotZero) {
  EXPECT_FALSE(read_device_counters("8:1", root_).has_value());
  stat("10 1 800");
  EXPECT_FALSE(read_device_counters("8:17", root_).has_value());
  EXPECT_FALSE(read_busy_seconds(root_).has_value());
  std::ofstream(root_ + "proc/stat") << "cpu 1 2 three\n";
  EXPECT_FALSE(read_busy_seconds(root_).has_value());
}

TEST_F(ActivityTest, IdleAndWaitingAreNotBusy) {
  std::ofstream(root_ + "proc/stat") << "cpu  100 10 200 99999 5000 7 3 80 40 2\ncpu0 1 1 1 1\n";
  EXPECT_DOUBLE_EQ(read_busy_seconds(root_).value(), 400.0 / static_cast<double>(sysconf(_SC_CLK_TCK)));
}

}  // namespace
}  // namespace mongo
