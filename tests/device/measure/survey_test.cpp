#include "harness/measure/survey.h"

#include <cerrno>

#include "tests/device/measure/support.h"

namespace mongo {
namespace {

using test::Buckets;

class SurveyTest : public test::EachTypeTest {
 protected:
  bool has_lost_and_found() const { return is_ext(type_); }
};

TEST_P(SurveyTest, AnEmptyFileSystemHasNoRatio) {
  const Survey found = survey();
  EXPECT_EQ(found.files, 0U);
  EXPECT_EQ(found.directories, has_lost_and_found() ? 2U : 1U);
  EXPECT_FALSE(found.fragmentation.above_threshold.ratio.has_value());
  EXPECT_FALSE(found.fragmentation.all_files.ratio.has_value());
  EXPECT_EQ(found.fragmentation.reason, "no file with extents that can be counted is larger than 16384 bytes");
}

TEST_P(SurveyTest, CountsOnlyLargeFilesInTheClassicFigure) {
  test::fs::create_directories(path("mnt/d/e"));
  write_blocks("small", {0}, 4);           // exactly the threshold: not above it
  write_blocks("d/large", {0}, 5);         // one fragment
  write_blocks("d/e/holes", {0, 100}, 5);  // a hole between: two fragments, wherever they lie
  write_blocks("empty", {});
  sync_filesystem(root_.get());
  const Survey found = survey();
  EXPECT_EQ(found.files, 4U);
  EXPECT_EQ(found.directories, has_lost_and_found() ? 4U : 3U);
  const Fragmentation& fragmentation = found.fragmentation;
  EXPECT_EQ(fragmentation.above_threshold.files, 2U);
  EXPECT_EQ(fragmentation.above_threshold.fragments, 3U);
  EXPECT_EQ(fragmentation.above_threshold.ratio, 1.5);
  EXPECT_EQ(fragmentation.all_files.files, 3U) << "the empty file has nothing to count";
  EXPECT_EQ(fragmentation.all_files.fragments, 4U);
  EXPECT_EQ(fragmentation.reason, "");
  EXPECT_EQ(fragmentation.delayed_extents, 0U);
  const std::vector<std::string> own{"small", "large"};
  const Survey without = survey_filesystem(root_.get(), watch_, own);
  EXPECT_EQ(without.files, 3U) << "without small, which is the file system's own; d/large is not";
  EXPECT_EQ(without.data_bytes, *found.data_bytes - 4U * test::block);
  EXPECT_EQ(without.fragmentation.all_files.files, 2U);
}

TEST_P(SurveyTest, SumsSizesAndSortsFilesByFragments) {
  for (const off_t pieces : {0, 1, 2, 3, 4, 5, 8, 9, 40}) write_pieces(std::to_string(pieces), pieces);
  sync_filesystem(root_.get());
  const Survey found = survey();
  EXPECT_EQ(found.fragmentation.method, "FIEMAP");
  EXPECT_EQ(found.fragmentation.files_by_fragments, (Buckets{{0, 1}, {1, 1}, {2, 1}, {3, 2}, {5, 2}, {9, 1}, {33, 1}}));
  EXPECT_EQ(found.fragmentation.all_files.fragments, 72U);
  // N pieces end with their last one at block 2 N - 2.
  EXPECT_EQ(found.data_bytes, (2 * 72U - 8) * test::block);
  const std::uint64_t data = 72U * test::block;
  if (has_extents(type_)) {
    EXPECT_TRUE(found.allocated_bytes >= data && found.allocated_bytes <= data + 4U * test::block)
        << *found.allocated_bytes << ": a large tree of extents takes a block";
  } else {
    EXPECT_EQ(found.allocated_bytes, data + 3U * test::block) << "a block of pointers each for 8, 9 and 40 pieces";
  }
}

TEST_P(SurveyTest, KeepsTheCurrentDirectory) {
  char before[4096], after[4096];
  ASSERT_NE(getcwd(before, sizeof before), nullptr);
  survey();
  ASSERT_NE(getcwd(after, sizeof after), nullptr);
  EXPECT_STREQ(before, after);
}

INSTANTIATE_TEST_SUITE_P(Types, SurveyTest, ::testing::Values("ext2", "ext3", "ext4", "xfs", "btrfs"), test::type_name);

class NoFiemapTest : public test::DeviceTest {};

TEST_F(NoFiemapTest, TmpfsGivesNullAndTheReason) {
  mount("tmpfs", path("mnt"), {"-t", "tmpfs"});
  std::ofstream(path("mnt/file")) << std::string(50000, 'x');
  const int root = open(path("mnt").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  InterruptWatch watch;
  const Survey survey = survey_filesystem(root, watch);
  close(root);
  EXPECT_EQ(survey.files, 1U);
  EXPECT_FALSE(survey.fragmentation.above_threshold.files.has_value());
  EXPECT_FALSE(survey.fragmentation.above_threshold.ratio.has_value());
  EXPECT_EQ(survey.fragmentation.reason,
            "the file system does not tell its extents (FIEMAP: EOPNOTSUPP, FIBMAP: EINVAL)");
  EXPECT_EQ(survey.fragmentation.method, "");
  EXPECT_EQ(survey.data_bytes, 50000U) << "the sizes are known all the same";
  EXPECT_GE(survey.allocated_bytes, 50000U);
}

}  // namespace
}  // namespace mongo
