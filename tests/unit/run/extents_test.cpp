#include "harness/measure/extents.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

namespace mongo {
namespace {

constexpr std::uint64_t block = 4096;

FileExtents count(std::initializer_list<fiemap_extent> extents) {
  ExtentCounter counter;
  for (const fiemap_extent& extent : extents) counter.add(extent);
  return counter.result();
}

fiemap_extent extent(std::uint64_t logical, std::uint64_t physical, std::uint64_t length, std::uint32_t flags = 0) {
  fiemap_extent result{};
  result.fe_logical = logical * block;
  result.fe_physical = physical * block;
  result.fe_length = length * block;
  result.fe_flags = flags;
  return result;
}

TEST(Fragments, AdjacentExtentsAreOneFragment) {
  EXPECT_EQ(count({}).fragments, 0U);
  EXPECT_EQ(count({extent(0, 100, 4)}).fragments, 1U);
  EXPECT_EQ(count({extent(0, 100, 4), extent(4, 104, 4)}).fragments, 1U);
  EXPECT_EQ(count({extent(0, 100, 4), extent(4, 200, 4)}).fragments, 2U) << "another place";
  EXPECT_EQ(count({extent(0, 100, 4), extent(8, 104, 4)}).fragments, 2U) << "a hole between";
  EXPECT_EQ(count({extent(0, 104, 4), extent(4, 100, 4)}).fragments, 2U) << "reverse order";
}

TEST(Fragments, WhatIsNoDataOnDiskIsCountedApart) {
  const FileExtents unwritten =
      count({extent(0, 100, 4), extent(4, 104, 4, FIEMAP_EXTENT_UNWRITTEN), extent(8, 108, 4)});
  EXPECT_EQ(unwritten.fragments, 2U) << "the data on both sides is not adjacent in the file";
  EXPECT_EQ(unwritten.unwritten, 1U);
  const FileExtents delayed = count({extent(0, 0, 4, FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_UNKNOWN)});
  EXPECT_EQ(delayed.fragments, 0U);
  EXPECT_EQ(delayed.delayed, 1U);
  const FileExtents in_inode = count({extent(0, 0, 1, FIEMAP_EXTENT_DATA_INLINE | FIEMAP_EXTENT_NOT_ALIGNED)});
  EXPECT_EQ(in_inode.fragments, 0U);
  EXPECT_EQ(in_inode.inline_data, 1U);
}

TEST(Fragments, SharedIsDataAndEncodedHasNoPlaceToCompare) {
  const FileExtents shared = count({extent(0, 100, 4, FIEMAP_EXTENT_SHARED), extent(4, 104, 4)});
  EXPECT_EQ(shared.fragments, 1U);
  EXPECT_EQ(shared.shared, 1U);
  const FileExtents encoded =
      count({extent(0, 100, 32, FIEMAP_EXTENT_ENCODED), extent(32, 103, 32, FIEMAP_EXTENT_ENCODED)});
  EXPECT_EQ(encoded.fragments, 0U);
  EXPECT_EQ(encoded.encoded, 2U);
}

TEST(Fragments, HistogramBucketsBeginAboveThePowersOfTwo) {
  using Buckets = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  FragmentHistogram histogram;
  EXPECT_EQ(histogram.buckets(), Buckets());
  for (const std::uint64_t fragments : {0, 1, 1, 2, 3, 4, 4, 5, 8, 9, 16, 17}) histogram.add(fragments);
  EXPECT_EQ(histogram.buckets(), (Buckets{{0, 1}, {1, 2}, {2, 1}, {3, 3}, {5, 2}, {9, 2}, {17, 1}}));
  FragmentHistogram ends;
  ends.add(std::uint64_t{1} << 63);
  ends.add((std::uint64_t{1} << 63) + 1);
  ends.add(~std::uint64_t{0});
  EXPECT_EQ(ends.buckets(), (Buckets{{(std::uint64_t{1} << 62) + 1, 1}, {(std::uint64_t{1} << 63) + 1, 2}}));
}

TEST(ExtentReader, SaysWhereThereIsNoFiemap) {
  const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  FileExtents result;
  const int error = ExtentReader().read(fd, 0, result);
  EXPECT_TRUE(error == EOPNOTSUPP || error == ENOTTY) << error;
  close(fd);
}

}  // namespace
}  // namespace mongo
