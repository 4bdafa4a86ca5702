#include "harness/measure/survey.h"

#include <cerrno>

#include "harness/measure/extents.h"
#include "harness/measure/space.h"
#include "tests/support/device_fixture.h"

namespace mongo {
namespace {

using test::MiB;

/// A mounted file system of each type that this host has.
class SurveyTest : public test::DeviceTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    const std::string type = GetParam();
    const std::string node = device(512 * MiB);
    ASSERT_TRUE(test::run({"mkfs." + type, type == "xfs" || type == "btrfs" ? "-f" : "-F", "-q", node}).ok());
    mount(node, path("mnt"), {"-t", type});
    root_ = open(path("mnt").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT_GE(root_, 0);
  }
  void TearDown() override {
    if (root_ >= 0) close(root_);
    DeviceTest::TearDown();
  }

  /// Writes blocks of 4096 bytes at the given offsets (in blocks), in that order, each synced so that it gets its
  /// place.
  std::string write_blocks(const std::string& name, const std::vector<off_t>& blocks, std::size_t length = 1) {
    const std::string file = path("mnt/" + name);
    const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    EXPECT_GE(fd, 0);
    const std::string data(length * 4096, 'x');
    for (const off_t block : blocks) {
      EXPECT_EQ(pwrite(fd, data.data(), data.size(), block * 4096), static_cast<ssize_t>(data.size()));
      EXPECT_EQ(fsync(fd), 0);
    }
    close(fd);
    return file;
  }

  static FileExtents extents(const std::string& file, unsigned buffer, std::uint32_t flags = 0) {
    const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    FileExtents result;
    EXPECT_EQ(ExtentReader(buffer).read(fd, flags, result), 0);
    close(fd);
    return result;
  }

  bool has_lost_and_found() const { return std::string(GetParam()).starts_with("ext"); }

  int root_ = -1;
  InterruptWatch watch_;
};

TEST_P(SurveyTest, AnEmptyFileSystemHasNoRatio) {
  const Survey survey = survey_filesystem(root_, watch_);
  EXPECT_EQ(survey.files, 0U);
  EXPECT_EQ(survey.directories, has_lost_and_found() ? 2U : 1U);
  EXPECT_FALSE(survey.fragmentation.above_threshold.ratio.has_value());
  EXPECT_FALSE(survey.fragmentation.all_files.ratio.has_value());
  EXPECT_EQ(survey.fragmentation.reason, "no file with extents that can be counted is larger than 16384 bytes");
}

TEST_P(SurveyTest, CountsOnlyLargeFilesInTheClassicFigure) {
  test::fs::create_directories(path("mnt/d/e"));
  write_blocks("small", {0}, 4);           // exactly the threshold: not above it
  write_blocks("d/large", {0}, 5);         // one fragment
  write_blocks("d/e/holes", {0, 100}, 5);  // a hole between: two fragments, wherever they lie
  write_blocks("empty", {});
  sync_filesystem(root_);
  const Survey survey = survey_filesystem(root_, watch_);
  EXPECT_EQ(survey.files, 4U);
  EXPECT_EQ(survey.directories, has_lost_and_found() ? 4U : 3U);
  const Fragmentation& found = survey.fragmentation;
  EXPECT_EQ(found.above_threshold.files, 2U);
  EXPECT_EQ(found.above_threshold.fragments, 3U);
  EXPECT_EQ(found.above_threshold.ratio, 1.5);
  EXPECT_EQ(found.all_files.files, 3U) << "the empty file has nothing to count";
  EXPECT_EQ(found.all_files.fragments, 4U);
  EXPECT_EQ(found.reason, "");
  EXPECT_EQ(found.delayed_extents, 0U);
}

TEST_P(SurveyTest, SameCountForABufferOfOneAndOfMany) {
  std::vector<off_t> reverse;
  for (off_t block = 2 * 700; block >= 0; block -= 2) reverse.push_back(block);  // holes between: 701 fragments
  const std::string file = write_blocks("pieces", reverse);
  EXPECT_EQ(extents(file, 4096).fragments, 701U);
  EXPECT_EQ(extents(file, 1).fragments, 701U);
  EXPECT_EQ(extents(file, 512).fragments, 701U);
}

TEST_P(SurveyTest, DelayedExtentsAreNeverFragments) {
  const std::string file = path("mnt/fresh");
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  ASSERT_GE(fd, 0);
  const std::string data(4 * MiB, 'x');
  ASSERT_EQ(write(fd, data.data(), data.size()), static_cast<ssize_t>(data.size()));
  FileExtents before, after;
  ASSERT_EQ(ExtentReader().read(fd, 0, before), 0);
  if (before.delayed > 0) {
    EXPECT_EQ(before.fragments, 0U);
  }
  ASSERT_EQ(ExtentReader().read(fd, FIEMAP_FLAG_SYNC, after), 0);
  EXPECT_EQ(after.delayed, 0U);
  EXPECT_GE(after.fragments, 1U);
  close(fd);
}

TEST_P(SurveyTest, KeepsTheCurrentDirectory) {
  char before[4096], after[4096];
  ASSERT_NE(getcwd(before, sizeof before), nullptr);
  survey_filesystem(root_, watch_);
  ASSERT_NE(getcwd(after, sizeof after), nullptr);
  EXPECT_STREQ(before, after);
}

INSTANTIATE_TEST_SUITE_P(Types, SurveyTest, ::testing::Values("ext2", "ext3", "ext4", "xfs", "btrfs"),
                         [](const auto& test) { return std::string(test.param); });

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
  EXPECT_EQ(survey.fragmentation.reason, "the file system does not tell its extents (FIEMAP: EOPNOTSUPP)");
}

}  // namespace
}  // namespace mongo
