// FIBMAP against FIEMAP on file systems that have both.

#include "harness/measure/fibmap.h"

#include "tests/device/measure/support.h"

namespace mongo {
namespace {

using test::block;
using test::Buckets;

class FibmapTest : public test::EachTypeTest {
 protected:
  std::uint64_t fragments(const std::string& file) const {
    const Descriptor fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
    BlockReader reader(watch_);
    EXPECT_EQ(reader.probe(fd.get()), 0);
    FileExtents result;
    EXPECT_EQ(reader.read(fd.get(), static_cast<std::uint64_t>(lseek(fd.get(), 0, SEEK_END)), result), 0);
    return result.fragments;
  }

  static void expect_same(const FragmentCount& a, const FragmentCount& b) {
    EXPECT_TRUE(a.files.has_value());
    EXPECT_EQ(a.files, b.files);
    EXPECT_EQ(a.fragments, b.fragments);
    EXPECT_EQ(a.ratio, b.ratio);
  }
};

TEST_P(FibmapTest, CountsWhatFiemapCounts) {
  EXPECT_EQ(fragments(write_blocks("order", {0}, 12)), 1U);
  EXPECT_EQ(fragments(write_blocks("hole", {8, 0}, 4)), 2U);
  EXPECT_EQ(fragments(write_pieces("pieces", 50)), 50U);
  EXPECT_EQ(fragments(write_blocks("after a hole", {7})), 1U);
  EXPECT_EQ(fragments(write_blocks("empty", {})), 0U);
  write_blocks("large", {0}, 2000);
  ASSERT_EQ(write(create("tiny").get(), "x", 1), 1);
  if (has_extents(type_)) {
    ASSERT_EQ(fallocate(create("unwritten").get(), 0, 0, 64 * block), 0);
  }
  EXPECT_EQ(fragments(write_scattered("scattered", 100)), 100U);
  sync_filesystem(root_.get());
  const Survey by_fibmap = survey(ExtentSource::fibmap), by_fiemap = survey();
  EXPECT_EQ(by_fibmap.fragmentation.method, "FIBMAP");
  EXPECT_EQ(by_fiemap.fragmentation.method, "FIEMAP");
  EXPECT_EQ(by_fibmap.fragmentation.reason, "");
  expect_same(by_fibmap.fragmentation.above_threshold, by_fiemap.fragmentation.above_threshold);
  expect_same(by_fibmap.fragmentation.all_files, by_fiemap.fragmentation.all_files);
  EXPECT_EQ(by_fibmap.fragmentation.files_by_fragments, by_fiemap.fragmentation.files_by_fragments);
  EXPECT_EQ(by_fibmap.files, by_fiemap.files);
  EXPECT_EQ(by_fibmap.data_bytes, by_fiemap.data_bytes);
  EXPECT_EQ(by_fibmap.allocated_bytes, by_fiemap.allocated_bytes);
}

INSTANTIATE_TEST_SUITE_P(Types, FibmapTest, ::testing::Values("ext2", "ext3", "ext4", "xfs"), test::type_name);

class FibmapAnswerTest : public test::MeasureTest {};

TEST_F(FibmapAnswerTest, ZeroForEveryBlockIsNoInformation) {
  make("xfs");  // answers so for files that share blocks
  const std::string file = write_blocks("file", {0}, 12);
  const Descriptor from(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(ioctl(create("clone").get(), FICLONE, from.get()), 0) << errno;
  create("empty");
  sync_filesystem(root_.get());
  const Survey found = survey(ExtentSource::fibmap);
  EXPECT_EQ(found.fragmentation.method, "");
  EXPECT_EQ(found.fragmentation.reason, "the file system does not tell its extents (FIBMAP answers 0 for every block)");
  EXPECT_FALSE(found.fragmentation.all_files.files.has_value());
  EXPECT_FALSE(found.fragmentation.above_threshold.fragments.has_value());
  EXPECT_TRUE(found.fragmentation.files_by_fragments.empty());
  EXPECT_EQ(found.data_bytes, 24U * block);
}

TEST_F(FibmapAnswerTest, NoDataIsNoReasonToDoubt) {
  make("ext4");
  create("empty");
  const Descriptor hole = create("hole");
  ASSERT_EQ(ftruncate(hole.get(), 100 * block), 0);
  const Survey found = survey(ExtentSource::fibmap);
  EXPECT_EQ(found.fragmentation.method, "FIBMAP");
  EXPECT_EQ(found.fragmentation.all_files.files, 0U);
  EXPECT_EQ(found.fragmentation.files_by_fragments, (Buckets{{0, 2}}));
}

TEST_F(FibmapAnswerTest, AFileWithMoreBlocksThanAnIntCanNumberGivesNull) {
  make("xfs");
  write_blocks("file", {0}, 12);
  const Descriptor large = create("large");
  ASSERT_EQ(ftruncate(large.get(), (off_t{1} << 31) * block), 0);
  const Survey found = survey(ExtentSource::fibmap);
  EXPECT_FALSE(found.fragmentation.all_files.files.has_value());
  EXPECT_EQ(found.fragmentation.reason, "FIBMAP of large: Value too large for defined data type (EOVERFLOW)");
  EXPECT_TRUE(found.fragmentation.files_by_fragments.empty());
  EXPECT_EQ(found.data_bytes, ((std::uint64_t{1} << 31) + 12) * block) << "the sizes are known all the same";
}

TEST_F(FibmapAnswerTest, BtrfsHasNone) {
  make("btrfs");
  write_blocks("file", {0}, 12);
  const Survey found = survey(ExtentSource::fibmap);
  EXPECT_EQ(found.fragmentation.method, "");
  EXPECT_EQ(found.fragmentation.reason, "the file system does not tell its extents (FIBMAP: EINVAL)");
}

}  // namespace
}  // namespace mongo
