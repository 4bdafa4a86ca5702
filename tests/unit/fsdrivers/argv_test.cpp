#include <gtest/gtest.h>

#include <set>

#include "fsdrivers/catalogue.h"

namespace mongo::fsdrivers {
namespace {

std::string argv(const char* name, std::vector<std::string> options = {}) {
  std::string line;
  for (const std::string& word : find(name)->format_argv({"/dev/DEVICE", "UUID", std::move(options)})) {
    line += (line.empty() ? "" : " ") + (word.find(' ') == std::string::npos ? word : "[" + word + "]");
  }
  return line;
}

TEST(Drivers, ArgvWithoutOptions) {
  EXPECT_EQ(argv("ext2"), "mkfs.ext2 -F -q -L mongo -U UUID /dev/DEVICE");
  EXPECT_EQ(argv("ext3"), "mkfs.ext3 -F -q -L mongo -U UUID /dev/DEVICE");
  EXPECT_EQ(argv("ext4"), "mkfs.ext4 -F -q -E lazy_itable_init=0,lazy_journal_init=0 -L mongo -U UUID /dev/DEVICE");
  EXPECT_EQ(argv("xfs"), "mkfs.xfs -f -q -L mongo -m uuid=UUID /dev/DEVICE");
  EXPECT_EQ(argv("btrfs"), "mkfs.btrfs -f -q -L mongo -U UUID /dev/DEVICE");
  EXPECT_EQ(argv("reiserfs"), "mkreiserfs -q -f -f -l mongo -u UUID /dev/DEVICE");
}

TEST(Drivers, ArgvWithOptionsKeepsWordsWhole) {
  EXPECT_EQ(argv("ext3", {"-N", "4000", "a b"}), "mkfs.ext3 -F -q -N 4000 [a b] -L mongo -U UUID /dev/DEVICE");
  EXPECT_EQ(argv("xfs", {"-m", "reflink=0"}), "mkfs.xfs -f -q -m reflink=0 -L mongo -m uuid=UUID /dev/DEVICE");
  EXPECT_EQ(argv("btrfs", {"-m", "dup"}), "mkfs.btrfs -f -q -m dup -L mongo -U UUID /dev/DEVICE");
}

TEST(Drivers, Ext4JoinsExtendedOptionsBecauseMke2fsTakesOnlyTheLast) {
  EXPECT_EQ(
      argv("ext4", {"-E", "stride=4", "-N", "9", "-Enodiscard"}),
      "mkfs.ext4 -F -q -E stride=4,nodiscard,lazy_itable_init=0,lazy_journal_init=0 -N 9 -L mongo -U UUID /dev/DEVICE");
  EXPECT_EQ(argv("ext4", {"-E", "lazy_itable_init=1"}),
            "mkfs.ext4 -F -q -E lazy_itable_init=1,lazy_journal_init=0 -L mongo -U UUID /dev/DEVICE");
}

/// What holds for every driver, also for one that is added.
TEST(Drivers, Contract) {
  std::set<std::string> names;
  for (const FilesystemDriver& driver : catalogue()) {
    EXPECT_TRUE(names.insert(driver.name).second) << driver.name << " twice";
    EXPECT_FALSE(driver.summary.empty()) << driver.name;
    EXPECT_EQ(find(driver.name), &driver);
    if (!driver.unavailable.empty()) continue;
    ASSERT_NE(driver.format_argv, nullptr) << driver.name;
    ASSERT_FALSE(driver.programs.empty()) << driver.name;
    const std::vector<std::string> words = driver.format_argv({"/dev/DEVICE", "UUID", {"-x"}});
    EXPECT_EQ(words.front(), driver.programs.front().name);
    EXPECT_EQ(words.back(), "/dev/DEVICE") << driver.name;
    EXPECT_NE(std::find(words.begin(), words.end(), "-x"), words.end()) << driver.name;
    EXPECT_NE(std::find(words.begin(), words.end(), std::string(label)), words.end()) << driver.name;
    std::string all;
    for (const std::string& word : words) all += word;
    EXPECT_NE(all.find("UUID"), std::string::npos) << driver.name << " does not set the UUID that proves who made it";
    for (const Program& program : driver.programs) {
      EXPECT_FALSE(program.debian_package.empty()) << program.name;
      EXPECT_FALSE(program.fedora_package.empty()) << program.name;
    }
  }
  for (const char* name : {"ext2", "ext3", "ext4", "xfs", "btrfs", "reiserfs", "zfs"})
    EXPECT_EQ(names.count(name), 1U) << name;
}

}  // namespace
}  // namespace mongo::fsdrivers
