// Files whose number of fragments is certain however the file system allocates, and what is said of them; filefrag(8)
// is asked too.

#include "tests/device/measure/support.h"

namespace mongo {
namespace {

using test::block;
using test::Buckets;
using test::MiB;

constexpr off_t scattered_pieces = 100;

class LayoutTest : public test::EachTypeTest {};

TEST_P(LayoutTest, WrittenInOrder) {
  // 12 blocks: in ext2 and ext3 a block of pointers comes after them, in the middle of a larger file.
  expect_fragments(write_blocks("small", {0}, 12), 1);
  if (has_extents(type_)) expect_fragments(write_blocks("large", {0}, 1024), 1);
}

TEST_P(LayoutTest, NoTwoBlocksTogether) {
  expect_fragments(write_scattered("file", scattered_pieces), scattered_pieces);
}

TEST_P(LayoutTest, PunchedInTheMiddle) {
  const std::string file = write_blocks("file", {0}, 12);
  const Descriptor fd(open(file.c_str(), O_RDWR | O_CLOEXEC));
  const bool punched = fallocate(fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4 * block, 4 * block) == 0;
  ASSERT_TRUE(punched || !has_extents(type_)) << errno;
  EXPECT_EQ(fsync(fd.get()), 0);
  if (punched) expect_fragments(file, 2);
  expect_fragments(write_blocks("hole", {0, 8}, 4), 2);
}

TEST_P(LayoutTest, Preallocated) {
  const Descriptor file = create("file");
  for (off_t i = 0; i < 3; ++i) {
    const int result = fallocate(file.get(), 0, i * 32 * block, 16 * block);
    if (!has_extents(type_)) {
      EXPECT_TRUE(result != 0 && errno == EOPNOTSUPP);
      return;
    }
    ASSERT_EQ(result, 0) << errno;
  }
  EXPECT_EQ(fsync(file.get()), 0);
  expect_fragments(at("file"), 0);
  EXPECT_EQ(extents(at("file")).unwritten, 3U) << "with holes between";
  const Survey found = survey();
  EXPECT_EQ(found.fragmentation.unwritten_extents, 3U);
  EXPECT_EQ(found.fragmentation.all_files.files, 0U);
  EXPECT_EQ(found.fragmentation.files_by_fragments, (Buckets{{0, 1}}));
  EXPECT_GE(found.allocated_bytes, 48U * block);
}

TEST_P(LayoutTest, Reflinked) {
  const std::string file = write_scattered("file", scattered_pieces);
  const Descriptor from(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  const Descriptor to = create("clone");
  if (ioctl(to.get(), FICLONE, from.get()) != 0) {
    EXPECT_TRUE(test::MeasureTest::is_ext(type_) && errno == EOPNOTSUPP) << errno;
    return;
  }
  EXPECT_EQ(fsync(to.get()), 0);
  for (const std::string& name : {at("file"), at("clone")}) {
    expect_fragments(name, scattered_pieces);
    EXPECT_EQ(extents(name).shared, static_cast<std::uint64_t>(scattered_pieces));
  }
  const Survey found = survey();
  EXPECT_GE(found.fragmentation.shared_extents, 2U * scattered_pieces);
}

TEST_P(LayoutTest, MoreExtentsThanOneCallReturns) {
  const std::string file = write_pieces("file", 5000);
  EXPECT_EQ(extents(file, 1).fragments, 5000U);
  EXPECT_EQ(extents(file, 512).fragments, 5000U);
  EXPECT_EQ(extents(file, 4096).fragments, 5000U);
  EXPECT_EQ(fragments_by_filefrag(file), 5000U);
}

TEST_P(LayoutTest, DelayedIsNoFragmentUntilItHasItsPlace) {
  {
    const Descriptor file = create("file");
    const std::string data(4 * MiB, 'x');
    ASSERT_EQ(write(file.get(), data.data(), data.size()), static_cast<ssize_t>(data.size()));
  }
  const Survey before = survey();
  if (has_extents(type_)) {  // ext2 and ext3 give the place at once
    expect_fragments(at("file"), 0);
    EXPECT_GT(before.fragmentation.delayed_extents, 0U);
    EXPECT_EQ(before.fragmentation.all_files.files, 0U);
    EXPECT_EQ(before.fragmentation.files_by_fragments, (Buckets{{0, 1}}));
  }
  sync_filesystem(root_.get());
  const Survey after = survey();
  EXPECT_EQ(after.fragmentation.delayed_extents, 0U);
  EXPECT_EQ(after.fragmentation.all_files.files, 1U);
  EXPECT_EQ(after.data_bytes, 4 * MiB);
  EXPECT_GE(after.allocated_bytes, 4 * MiB);
  if (has_extents(type_)) expect_fragments(at("file"), 1);
}

INSTANTIATE_TEST_SUITE_P(Types, LayoutTest, ::testing::Values("ext2", "ext3", "ext4", "xfs", "btrfs"), test::type_name);

class SpecialLayoutTest : public test::MeasureTest {};

TEST_F(SpecialLayoutTest, CompressedHasNoFragments) {
  make("btrfs", {}, "compress-force=zstd");
  const std::string file = write_blocks("file", {0}, 256);
  expect_fragments(file, 0);
  EXPECT_EQ(extents(file).encoded, 8U) << "btrfs compresses pieces of 128 KiB";
  create("empty");
  const Survey found = survey();
  EXPECT_EQ(found.fragmentation.encoded_extents, 8U);
  EXPECT_EQ(found.fragmentation.encoded_files, 1U);
  EXPECT_EQ(found.fragmentation.all_files.files, 0U);
  EXPECT_FALSE(found.fragmentation.all_files.ratio.has_value());
  EXPECT_EQ(found.fragmentation.files_by_fragments, (Buckets{{0, 1}})) << "the empty one only";
  EXPECT_EQ(found.data_bytes, MiB);
  EXPECT_EQ(found.allocated_bytes, MiB) << "st_blocks of btrfs is of what it was before";
}

class InlineTest : public test::MeasureTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(InlineTest, HasNoFragments) {
  const std::string type = GetParam();
  make(type, type == "ext4" ? std::vector<std::string>{"-O", "inline_data", "-I", "256"} : std::vector<std::string>{});
  ASSERT_EQ(write(create("file").get(), "0123456789", 10), 10);
  sync_filesystem(root_.get());
  expect_fragments(at("file"), 0);
  EXPECT_EQ(extents(at("file")).inline_data, 1U);
  const Survey found = survey();
  EXPECT_EQ(found.fragmentation.inline_extents, 1U);
  EXPECT_EQ(found.fragmentation.all_files.files, 0U);
  EXPECT_EQ(found.fragmentation.files_by_fragments, (Buckets{{0, 1}}));
  EXPECT_EQ(found.data_bytes, 10U);
}

INSTANTIATE_TEST_SUITE_P(Types, InlineTest, ::testing::Values("ext4", "btrfs"), test::type_name);

}  // namespace
}  // namespace mongo
