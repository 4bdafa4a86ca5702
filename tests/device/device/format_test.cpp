// Every installed mkfs takes the argv of its driver and makes a file system that this tool knows as its own.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fsdrivers/catalogue.h"
#include "harness/device/signatures.h"
#include "tests/device/device/support.h"

namespace mongo {
namespace {

using namespace testing_support;
using fsdrivers::FilesystemDriver;

using Words = std::vector<std::string>;

class Format : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    SKIP_UNLESS_ROOT_WITH_LOOPS();
    driver_ = fsdrivers::find(GetParam());
    ASSERT_NE(driver_, nullptr);
    for (const fsdrivers::Program& program : driver_->programs) SKIP_UNLESS_PROGRAM(program.name);
    if (GetParam() == "nilfs2" && access("/etc/mtab", R_OK) != 0) {
      GTEST_SKIP() << "mkfs.nilfs2 wants /etc/mtab, which is missing here";
    }
  }

  /// mkfs and what follows it; the result of the first that fails, else of the last.
  CommandResult format(const std::string& node, const std::string& uuid, const Words& options = {}) const {
    const fsdrivers::FormatRequest request{node, uuid, options};
    std::vector<Words> commands{driver_->format_argv(request)};
    if (driver_->after_format != nullptr) {
      for (Words& command : driver_->after_format(request)) commands.push_back(std::move(command));
    }
    CommandResult result;
    for (const Words& command : commands) {
      result = RealRunner().run({command, std::chrono::minutes(1)});
      if (!result.ok()) return result;
    }
    return result;
  }

  const FilesystemDriver* driver_ = nullptr;
};

TEST_P(Format, GivesLabelAndUuidWhateverWasThere) {
  const auto loop = attach(320 * MiB);
  // What mkfs would ask about or refuse: another file system, and one of its own kind.
  ASSERT_TRUE(RealRunner().run({{"mkfs.ext2", "-F", "-q", loop->node()}, std::chrono::minutes(1)}).ok());
  for (int round = 1; round <= 2; ++round) {
    const std::string uuid = make_uuid();
    const CommandResult result = format(loop->node(), uuid);
    ASSERT_TRUE(result.ok()) << result.out << result.err;
    bool found = false;
    for (const Signature& signature : read_signatures(loop->node())) {
      if (signature.type != driver_->kernel_type) continue;
      EXPECT_EQ(signature.label, "mongo");
      EXPECT_EQ(signature.uuid, uuid);
      found = true;
    }
    EXPECT_TRUE(found) << "round " << round;
  }
  wipe_signatures(loop->node());
  EXPECT_TRUE(read_signatures(loop->node()).empty());
}

TEST_P(Format, OnABlankDeviceIsKnownAsTheToolsOwn) {
  const auto loop = attach(320 * MiB);
  ASSERT_TRUE(format(loop->node(), make_uuid()).ok());
  const std::vector<Signature> found = read_signatures(loop->node());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(made_by_this_tool(found)) << describe(found.front());
}

TEST_P(Format, TooSmallADeviceIsRefusedWithAReason) {
  const auto loop = attach(2 * MiB);
  const CommandResult result = format(loop->node(), make_uuid());
  if (GetParam().starts_with("ext")) return;  // made on anything
  EXPECT_FALSE(result.ok());
  EXPECT_NE(useful_line(result), "") << result.out << result.err;
}

/// Options that people choose file systems by, all of them within what the drivers let through.
TEST_P(Format, TakesTheVariantsThatPeopleCompare) {
  const std::vector<std::pair<std::string, std::vector<Words>>> variants{
      {"ext2", {{"-I", "128"}, {"-O", "^dir_index"}, {"-b", "1024"}}},
      {"ext3",
       {{"-O", "dir_index"}, {"-O", "^dir_index"}, {"-I", "128"}, {"-I", "256"}, {"-J", "size=8"}, {"-N", "40000"}}},
      {"ext4",
       {{"-O", "^has_journal"}, {"-O", "^extents,^64bit"}, {"-O", "inline_data"}, {"-O", "bigalloc", "-C", "65536"}}},
      {"btrfs",
       {{"-m", "single"}, {"-m", "dup"}, {"-d", "dup"}, {"-n", "4096"}, {"--csum", "xxhash"}, {"-O", "no-holes"}}},
      {"xfs",
       {{"-m", "crc=0"},
        {"-m", "reflink=0,rmapbt=0"},
        {"-m", "finobt=0"},
        {"-i", "size=1024"},
        {"-n", "size=8192"},
        {"-l", "size=64m"},
        {"-d", "agcount=2"},
        {"-b", "size=1024"}}},
      {"reiserfs", {{"-h", "tea"}, {"-s", "1024"}}},
      {"jfs", {{"-s", "8"}, {"-O"}}},
      {"f2fs",
       {{"-O", "extra_attr,inode_checksum,sb_checksum"},
        {"-O", "extra_attr,compression"},
        {"-o", "20"},
        {"-s", "2"},
        {"-t", "0"},
        {"-i"}}},
      {"nilfs2", {{"-b", "1024"}, {"-B", "1024"}, {"-m", "10"}, {"-O", "block_count"}, {"-K"}}}};
  for (const auto& [name, all] : variants) {
    if (name != GetParam()) continue;
    const auto loop = attach(320 * MiB);
    for (const Words& options : all) {
      const CommandResult result = format(loop->node(), make_uuid(), options);
      EXPECT_TRUE(result.ok()) << options.front() << " " << options.back() << ": " << result.out << result.err;
    }
  }
}

std::vector<std::string> made_by_mkfs() {
  std::vector<std::string> names;
  for (const FilesystemDriver& driver : fsdrivers::catalogue()) {
    if (driver.format_argv != nullptr) names.push_back(driver.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Drivers, Format, testing::ValuesIn(made_by_mkfs()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace mongo
