#include "harness/measure/free_space.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "harness/core/descriptor.h"

namespace mongo {
namespace {

using Buckets = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

TEST(FreeRuns, NoneIsZeroAndNotNull) {
  const FreeSpace none = FreeRuns().result("GETFSMAP");
  EXPECT_EQ(none.method, "GETFSMAP");
  EXPECT_EQ(none.extents, 0U);
  EXPECT_EQ(none.bytes, 0U);
  EXPECT_EQ(none.largest_bytes, 0U);
  EXPECT_EQ(none.histogram, Buckets());
}

TEST(FreeRuns, RunsThatTouchAreOneExtent) {
  FreeRuns runs;
  runs.add(0, 4096);
  runs.add(4096, 4096);
  runs.add(8192, 0);
  runs.add(12288, 4096);
  const FreeSpace space = runs.result("m");
  EXPECT_EQ(space.extents, 2U);
  EXPECT_EQ(space.bytes, 12288U);
  EXPECT_EQ(space.largest_bytes, 8192U);
  EXPECT_EQ(space.histogram, (Buckets{{4096, 1}, {8192, 1}}));
}

TEST(FreeRuns, BucketsArePowersOfTwo) {
  FreeRuns runs;
  std::uint64_t at = 0;
  for (const std::uint64_t length : {1, 2, 3, 4, 7, 8, 1048575, 1048576}) {
    runs.add(at, length);
    at += length + 1;
  }
  runs.add(at, std::uint64_t{1} << 62);
  EXPECT_EQ(runs.result("m").histogram,
            (Buckets{{1, 1}, {2, 2}, {4, 2}, {8, 1}, {524288, 1}, {1048576, 1}, {std::uint64_t{1} << 62, 1}}));
  EXPECT_EQ(runs.result("m").extents, 9U) << "asking again changes nothing";
}

TEST(FreeSpace, SaysWhyItIsNotToBeHad) {
  const Descriptor folder(open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_TRUE(folder);
  const FreeSpace space = read_free_space(folder.get());
  EXPECT_EQ(space.method, "");
  EXPECT_FALSE(space.extents || space.bytes || space.largest_bytes);
  EXPECT_EQ(space.reason, "the file system does not tell its free space (GETFSMAP: ENOTTY)");
}

}  // namespace
}  // namespace mongo
