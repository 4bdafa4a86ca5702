#include "harness/measure/fibmap.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "harness/core/descriptor.h"

namespace mongo {
namespace {

std::uint64_t count(std::initializer_list<std::uint64_t> blocks) {
  BlockRuns runs;
  for (const std::uint64_t block : blocks) runs.add(block);
  return runs.fragments();
}

TEST(BlockRuns, AFragmentIsARunOfBlocksThatFollowEachOther) {
  EXPECT_EQ(count({}), 0U);
  EXPECT_EQ(count({100}), 1U);
  EXPECT_EQ(count({100, 101, 102}), 1U);
  EXPECT_EQ(count({102, 101, 100}), 3U) << "reverse order";
  EXPECT_EQ(count({100, 102, 103}), 2U);
  EXPECT_EQ(count({100, 100}), 2U) << "twice the same place";
}

TEST(BlockRuns, ZeroIsNoData) {
  EXPECT_EQ(count({0, 0, 0}), 0U);
  EXPECT_EQ(count({100, 0, 101}), 2U) << "a hole between";
  EXPECT_EQ(count({100, 101, 0}), 1U) << "a tail at the end";
  EXPECT_EQ(count({0, 1, 2}), 1U) << "block 1 does not continue the hole";
  EXPECT_EQ(count({1, 0, 1}), 2U);
}

TEST(BlockReader, SaysWhereThereIsNoFibmap) {
  const Descriptor file(open("/proc/self/status", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(file);
  const InterruptWatch watch;
  const int error = BlockReader(watch).probe(file.get());
  EXPECT_TRUE(error == EINVAL || error == EPERM || error == ENOTTY) << error;
}

}  // namespace
}  // namespace mongo
