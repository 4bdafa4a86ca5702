// Free space against what the file systems' own tools say of it, and against known layouts.

#include "harness/measure/free_space.h"

#include <bit>
#include <regex>

#include "tests/device/measure/support.h"

namespace mongo {
namespace {

using test::block;
using test::MiB;

class FreeSpaceTest : public test::MeasureTest {
 protected:
  FreeSpace free_space() const { return read_free_space(root_.get()); }

  /// The number at the first group of the expression.
  static std::uint64_t number(const std::string& text, const std::string& expression) {
    std::smatch found;
    const bool well = std::regex_search(text, found, std::regex(expression));
    EXPECT_TRUE(well) << expression << " in " << text;
    return well ? std::stoull(found[1]) : 0;
  }

  static std::string output(const std::vector<std::string>& argv) {
    const CommandResult result = test::run(argv);
    EXPECT_TRUE(result.ok()) << result.err;
    return result.out;
  }

  static void expect_sums(const FreeSpace& space) {
    ASSERT_TRUE(space.extents && space.bytes && space.largest_bytes) << space.reason;
    EXPECT_EQ(space.reason, "");
    std::uint64_t extents = 0, least = 0;
    for (const auto& [size, count] : space.histogram) {
      EXPECT_GT(count, 0U);
      EXPECT_EQ(size & (size - 1), 0U);
      extents += count;
      least += size * count;
    }
    EXPECT_EQ(extents, space.extents);
    EXPECT_LE(least, *space.bytes);
    EXPECT_GT(2 * least, *space.bytes);
    ASSERT_FALSE(space.histogram.empty());
    EXPECT_LE(space.histogram.back().first, *space.largest_bytes);
  }

  void write_files(int files, std::size_t bytes) {
    const std::string data(bytes, 'x');
    for (int i = 0; i < files; ++i) {
      ASSERT_EQ(write(create("f" + std::to_string(i)).get(), data.data(), bytes), static_cast<ssize_t>(bytes));
    }
    sync_filesystem(root_.get());
  }

  /// Deletes of these files every second that lies between two that stay, so that each leaves an extent of its own.
  /// Returns how many.
  std::uint64_t delete_between_others(int count) {
    std::vector<std::pair<std::pair<std::uint64_t, std::uint64_t>, std::string>> files;
    for (int i = 0; i < count; ++i) {
      const std::string file = at("f" + std::to_string(i));
      files.emplace_back(place_of(file), file);
    }
    std::sort(files.begin(), files.end());
    std::uint64_t deleted = 0;
    for (std::size_t i = 1; i + 1 < files.size(); ++i) {
      const auto [start, end] = files[i].first;
      if (start == 0 || files[i - 1].first.second != start || files[i + 1].first.first != end) continue;
      EXPECT_EQ(unlink(files[i].second.c_str()), 0);
      ++deleted;
      ++i;  // the next one stays
    }
    sync_filesystem(root_.get());
    return deleted;
  }

  /// Frees every second block of a file: more runs than one call returns.
  void punch_many_holes(off_t holes) {
    const std::string file = write_blocks("punched", {0}, static_cast<std::size_t>(2 * holes));
    const Descriptor fd(open(file.c_str(), O_RDWR | O_CLOEXEC));
    for (off_t i = 0; i < holes; ++i) {
      ASSERT_EQ(fallocate(fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 2 * i * block, block), 0) << errno;
    }
    sync_filesystem(root_.get());
  }
};

class FreeSpaceOfEachTest : public FreeSpaceTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(FreeSpaceOfEachTest, EverySecondFileDeletedIsAsManyExtents) {
  make(GetParam());
  // Without a block of pointers in ext2 and ext3.
  const std::size_t bytes = has_extents(type_) ? 65536 : 49152;
  write_files(100, bytes);
  mount_again();
  const FreeSpace before = free_space();
  const std::uint64_t deleted = delete_between_others(100);
  EXPECT_GE(deleted, 30U);
  mount_again();
  const FreeSpace after = free_space();
  expect_sums(before);
  expect_sums(after);
  EXPECT_EQ(*after.extents, *before.extents + deleted);
  const auto of_that_size = [&](const FreeSpace& space) {
    const std::uint64_t bucket = std::bit_floor(bytes);
    for (const auto& [size, count] : space.histogram) {
      if (size == bucket) return count;
    }
    return std::uint64_t{0};
  };
  EXPECT_EQ(of_that_size(after), of_that_size(before) + deleted);
  // The trees of xfs and btrfs need a little more or less than before.
  const std::uint64_t slack = is_ext(type_) ? 0 : 64 * static_cast<std::uint64_t>(block);
  EXPECT_NEAR(static_cast<double>(*after.bytes), static_cast<double>(*before.bytes + deleted * bytes),
              static_cast<double>(slack));
}

INSTANTIATE_TEST_SUITE_P(Types, FreeSpaceOfEachTest, ::testing::Values("ext2", "ext3", "ext4", "xfs", "btrfs"),
                         test::type_name);

class FreeSpaceOfExtTest : public FreeSpaceTest,
                           public ::testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(FreeSpaceOfExtTest, AsE2freefragSays) {
  make(GetParam().first, {"-b", GetParam().second});
  // 12 blocks: without a block of pointers in ext2 and ext3.
  write_files(100, 12 * std::stoul(GetParam().second));
  if (has_extents(type_)) punch_many_holes(3000);
  EXPECT_GT(delete_between_others(100), 0U);
  mount_again();
  const FreeSpace space = free_space();
  leave_root();
  const std::string said = output({"e2freefrag", node_});
  EXPECT_EQ(space.method, "GETFSMAP");
  expect_sums(space);
  EXPECT_EQ(space.bytes, number(said, "Free blocks: (\\d+)") * number(said, "Blocksize: (\\d+)"));
  EXPECT_EQ(space.largest_bytes, number(said, "Max\\. free extent: (\\d+) KB") * 1024);
  EXPECT_EQ(space.extents, number(said, "Num\\. free extent: (\\d+)"));
  if (has_extents(type_)) {
    EXPECT_GT(space.extents, 3000U) << "several calls";
  }
}

INSTANTIATE_TEST_SUITE_P(Types, FreeSpaceOfExtTest,
                         ::testing::Values(std::pair{"ext2", "4096"}, std::pair{"ext3", "4096"},
                                           std::pair{"ext4", "4096"}, std::pair{"ext4", "1024"},
                                           std::pair{"ext2", "1024"}),
                         [](const auto& test) { return std::string(test.param.first) + "_" + test.param.second; });

class FreeSpaceByToolTest : public FreeSpaceTest {};

TEST_F(FreeSpaceByToolTest, XfsAsItsToolsSay) {
  make("xfs");
  punch_many_holes(3000);
  mount_again();
  const FreeSpace space = free_space();
  const std::string online = output({"xfs_spaceman", "-c", "freesp -s", at("")});
  leave_root();
  const std::string offline = output({"xfs_db", "-r", "-c", "freesp -s", node_});
  EXPECT_EQ(space.method, "GETFSMAP");
  expect_sums(space);
  EXPECT_GT(space.extents, 3000U) << "several calls";
  EXPECT_EQ(space.extents, number(online, "total free extents (\\d+)"));
  EXPECT_EQ(space.bytes, number(online, "total free blocks (\\d+)") * block);
  // This one counts the blocks that each allocation group keeps for its own trees, one by one.
  std::uint64_t kept = 0;
  const std::uint64_t groups = number(output({"xfs_db", "-r", "-c", "sb 0", "-c", "p agcount", node_}), "= (\\d+)");
  for (std::uint64_t i = 0; i < groups; ++i) {
    kept += number(output({"xfs_db", "-r", "-c", "agf " + std::to_string(i), "-c", "p flcount", node_}), "= (\\d+)");
  }
  EXPECT_GT(kept, 0U);
  EXPECT_EQ(*space.extents + kept, number(offline, "total free extents (\\d+)"));
  EXPECT_EQ(*space.bytes + kept * block, number(offline, "total free blocks (\\d+)") * block);
}

TEST_F(FreeSpaceByToolTest, BtrfsAsItsToolSays) {
  make("btrfs");
  for (const int files : {0, 12, 6000}) {  // nothing freed, some extents, and bitmaps
    write_files(files, block);
    const std::uint64_t deleted = delete_between_others(files);
    mount_again();
    const FreeSpace space = free_space();
    EXPECT_EQ(space.method, "free space tree");
    expect_sums(space);
    const std::string said = output({"btrfs", "filesystem", "usage", "-b", at("")});
    const std::uint64_t unallocated = number(said, "Device unallocated:\\s+(\\d+)");
    const std::uint64_t data = number(said, "Data,single: Size:(\\d+)"),
                        used = number(said, "Data,single:.*Used:(\\d+)");
    // The first MiB is never used, nor is the second superblock, which may lie in a chunk of metadata.
    const std::uint64_t most = unallocated + data - used - MiB;
    EXPECT_TRUE(space.bytes == most || space.bytes == most - 65536) << *space.bytes << ", not " << most << "\n" << said;
    EXPECT_GE(deleted, static_cast<std::uint64_t>(files) / 3);
    EXPECT_GE(space.extents, deleted);
    for (int i = 0; i < files; ++i) unlink(at("f" + std::to_string(i)).c_str());
  }
}

TEST_F(FreeSpaceByToolTest, BtrfsWithoutTheTreeOrInSeveralPlacesIsNull) {
  make("btrfs", {"-d", "dup"});
  write_blocks("file", {0}, 12);
  const FreeSpace twice = free_space();
  EXPECT_FALSE(twice.extents.has_value());
  EXPECT_EQ(twice.method, "");
  EXPECT_EQ(twice.reason, "the free space of this btrfs cannot be read (data lies in several places)");
  leave_root();
  ASSERT_TRUE(test::run({"mkfs.btrfs", "-f", "-q", "-R", "^free-space-tree", node_}).ok());
  mount_options_ = "space_cache=v1";
  open_root();
  write_blocks("file", {0}, 12);
  const FreeSpace no_tree = free_space();
  EXPECT_FALSE(no_tree.extents.has_value());
  EXPECT_EQ(no_tree.reason, "the free space of this btrfs cannot be read (free space tree: ENOENT)");
}

TEST_F(FreeSpaceByToolTest, TmpfsTellsNothing) {
  mount("tmpfs", path("mnt"), {"-t", "tmpfs"});
  const Descriptor root(open(path("mnt").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const FreeSpace space = read_free_space(root.get());
  EXPECT_FALSE(space.extents.has_value());
  EXPECT_EQ(space.method, "");
  EXPECT_EQ(space.reason, "the file system does not tell its free space (GETFSMAP: ENOTTY)");
}

}  // namespace
}  // namespace mongo
