#include <gtest/gtest.h>

#include <algorithm>
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
  EXPECT_EQ(argv("jfs"), "mkfs.jfs -q -L mongo /dev/DEVICE");
  EXPECT_EQ(argv("f2fs"), "mkfs.f2fs -f -l mongo -U UUID /dev/DEVICE");
  EXPECT_EQ(argv("nilfs2"), "mkfs.nilfs2 -f -q -L mongo /dev/DEVICE");
}

TEST(Drivers, WhereMkfsSetsNoUuidASecondProgramDoes) {
  using Commands = std::vector<std::vector<std::string>>;
  const FormatRequest request{"/dev/DEVICE", "UUID", {}};
  EXPECT_EQ(find("jfs")->after_format(request), (Commands{{"jfs_tune", "-L", "mongo", "-U", "UUID", "/dev/DEVICE"}}));
  EXPECT_EQ(find("nilfs2")->after_format(request),
            (Commands{{"nilfs-tune", "-L", "mongo", "-U", "UUID", "/dev/DEVICE"}}));
  for (const char* name : {"ext2", "ext3", "ext4", "xfs", "btrfs", "reiserfs", "f2fs", "zfs"}) {
    EXPECT_EQ(find(name)->after_format, nullptr) << name;
  }
}

TEST(Drivers, OnlyNilfs2HasAFileOfItsOwn) {
  using Names = std::vector<std::string>;
  for (const FilesystemDriver& driver : catalogue()) {
    EXPECT_EQ(driver.own_files, driver.name == "nilfs2" ? Names{".nilfs"} : Names{}) << driver.name;
  }
}

TEST(Drivers, ArgvWithOptionsKeepsWordsWhole) {
  EXPECT_EQ(argv("ext3", {"-N", "4000", "a b"}), "mkfs.ext3 -F -q -N 4000 [a b] -L mongo -U UUID /dev/DEVICE");
  EXPECT_EQ(argv("xfs", {"-m", "reflink=0"}), "mkfs.xfs -f -q -m reflink=0 -L mongo -m uuid=UUID /dev/DEVICE");
  EXPECT_EQ(argv("btrfs", {"-m", "dup"}), "mkfs.btrfs -f -q -m dup -L mongo -U UUID /dev/DEVICE");
  EXPECT_EQ(argv("jfs", {"-s", "8"}), "mkfs.jfs -q -s 8 -L mongo /dev/DEVICE");
  EXPECT_EQ(argv("f2fs", {"-o", "10", "a b"}), "mkfs.f2fs -f -o 10 [a b] -l mongo -U UUID /dev/DEVICE");
  EXPECT_EQ(argv("nilfs2", {"-m", "5"}), "mkfs.nilfs2 -f -q -m 5 -L mongo /dev/DEVICE");
}

TEST(Drivers, Ext4JoinsExtendedOptionsBecauseMke2fsTakesOnlyTheLast) {
  EXPECT_EQ(
      argv("ext4", {"-E", "stride=4", "-N", "9", "-Enodiscard"}),
      "mkfs.ext4 -F -q -E stride=4,nodiscard,lazy_itable_init=0,lazy_journal_init=0 -N 9 -L mongo -U UUID /dev/DEVICE");
  EXPECT_EQ(
      argv("ext4", {"-jE", "stride=4", "-DEstripe_width=8", "-N9"}),
      "mkfs.ext4 -F -q -E stride=4,stripe_width=8,lazy_itable_init=0,lazy_journal_init=0 -j -D -N9 -L mongo -U UUID "
      "/dev/DEVICE");
  EXPECT_EQ(argv("ext4", {"-E", "lazy_itable_init=1"}),
            "mkfs.ext4 -F -q -E lazy_itable_init=1,lazy_journal_init=0 -L mongo -U UUID /dev/DEVICE");
}

bool lazy(const char* name, std::vector<std::string> options) {
  const FilesystemDriver& driver = *find(name);
  return driver.lazy_initialisation(driver.format_argv({"/dev/DEVICE", "UUID", std::move(options)})).value();
}

TEST(Drivers, Ext4IsLazyOnlyWhenAskedFor) {
  EXPECT_FALSE(lazy("ext4", {}));
  EXPECT_FALSE(lazy("ext4", {"-E", "stride=4", "-jEnodiscard", "-O", "uninit_bg"}));
  EXPECT_TRUE(lazy("ext4", {"-E", "lazy_itable_init=1"}));
  EXPECT_TRUE(lazy("ext4", {"-E", "lazy_itable_init"}));
  EXPECT_TRUE(lazy("ext4", {"-Elazy_journal_init"}));
  EXPECT_TRUE(lazy("ext4", {"-jE", "stride=4,lazy_journal_init=2"}));
  EXPECT_FALSE(lazy("ext4", {"-E", "lazy_itable_init=0,lazy_journal_init=0"}));
  EXPECT_FALSE(lazy("ext4", {"-E", "lazy_itable_init="}));
  // The last word about the tables counts, any about the journal.
  EXPECT_FALSE(lazy("ext4", {"-E", "lazy_itable_init=1", "-E", "lazy_itable_init=0"}));
  EXPECT_TRUE(lazy("ext4", {"-E", "lazy_itable_init=0,lazy_itable_init=1"}));
  EXPECT_TRUE(lazy("ext4", {"-E", "lazy_journal_init=1,lazy_journal_init=0"}));
  // Another program's argv: told nothing, mke2fs is lazy; and it takes only the last -E.
  const auto of_argv = find("ext4")->lazy_initialisation;
  EXPECT_TRUE(of_argv({"mkfs.ext4", "/dev/DEVICE"}).value());
  EXPECT_TRUE(of_argv({"mkfs.ext4", "-E", "lazy_itable_init=0", "-E", "stride=4", "/dev/DEVICE"}).value());
}

TEST(Drivers, Ext2AndExt3HaveNoTablesThatTheKernelWritesLater) {
  for (const char* name : {"ext2", "ext3"}) {
    EXPECT_FALSE(lazy(name, {})) << name;
    EXPECT_FALSE(lazy(name, {"-O", "uninit_bg", "-E", "lazy_itable_init=1"})) << name;
    EXPECT_TRUE(lazy(name, {"-j", "-E", "lazy_journal_init=1"})) << name;
    EXPECT_FALSE(lazy(name, {"-E", "lazy_journal_init=1", "-E", "stride=4"})) << name << ": the last -E";
  }
  for (const char* name : {"xfs", "btrfs", "reiserfs"}) EXPECT_EQ(find(name)->lazy_initialisation, nullptr) << name;
}

/// What makes the file system of a driver on DEVICE.
std::vector<std::string> create_argv(const FilesystemDriver& driver, std::vector<std::string> options) {
  if (!driver.pool) return driver.format_argv({"/dev/DEVICE", "UUID", std::move(options)});
  return driver.pool->create({driver.pool->name("UUID"), "/dev/DEVICE", "/mnt", "", std::move(options)});
}

/// What holds for every driver, also for one that is added.
TEST(Drivers, Contract) {
  std::set<std::string> names;
  for (const FilesystemDriver& driver : catalogue()) {
    EXPECT_TRUE(names.insert(driver.name).second) << driver.name << " twice";
    EXPECT_FALSE(driver.summary.empty()) << driver.name;
    EXPECT_EQ(find(driver.name), &driver);
    if (driver.existing_directory) continue;
    ASSERT_FALSE(driver.programs.empty()) << driver.name;
    ASSERT_NE(driver.format_argv != nullptr, driver.pool.has_value()) << driver.name << ": one of both";
    const std::vector<std::string> words = create_argv(driver, {"-x"});
    EXPECT_EQ(words.front(), driver.programs.front().name);
    EXPECT_EQ(words.back(), "/dev/DEVICE") << driver.name;
    EXPECT_NE(std::find(words.begin(), words.end(), "-x"), words.end()) << driver.name;
    std::string all;
    for (const std::string& word : words) all += " " + word;
    if (driver.after_format != nullptr) {
      for (const auto& command : driver.after_format({"/dev/DEVICE", "UUID", {"-x"}})) {
        ASSERT_FALSE(command.empty()) << driver.name;
        EXPECT_EQ(command.back(), "/dev/DEVICE") << driver.name;
        const auto same = [&](const Program& program) { return program.name == command.front(); };
        EXPECT_TRUE(std::any_of(driver.programs.begin(), driver.programs.end(), same)) << command.front();
        for (const std::string& word : command) all += " " + word;
      }
    }
    EXPECT_NE(all.find(driver.pool ? " mongo-" : " mongo "), std::string::npos) << driver.name;
    EXPECT_NE(all.find("UUID"), std::string::npos) << driver.name << " does not set the UUID that proves who made it";
    EXPECT_FALSE(driver.mkfs_options.empty()) << driver.name;
    for (const Program& program : driver.programs) {
      EXPECT_FALSE(program.debian_package.empty()) << program.name;
      EXPECT_FALSE(program.fedora_package.empty()) << program.name;
    }
  }
  for (const char* name : {"ext2", "ext3", "ext4", "xfs", "btrfs", "reiserfs", "jfs", "f2fs", "nilfs2", "zfs"})
    EXPECT_EQ(names.count(name), 1U) << name;
}

/// The options that the user may give are written as they should be, and hold none that format_argv sets itself: label,
/// UUID, force and quiet.
TEST(Drivers, MkfsOptionsAreWellFormedAndNotTheToolsOwn) {
  for (const FilesystemDriver& driver : catalogue()) {
    if (driver.existing_directory) continue;
    std::set<std::string> own, names;
    for (const std::string& word : create_argv(driver, {})) own.insert(word);
    for (const std::string& option : driver.mkfs_options) {
      const std::size_t blank = option.find(' ');
      const std::string name = option.substr(0, blank);
      EXPECT_TRUE(names.insert(name).second) << driver.name << " " << name << " twice";
      const bool is_short = name.size() == 2 && name[0] == '-' && name[1] != '-';
      const bool is_long = name.size() > 3 && name.starts_with("--") && name.find('=') == std::string::npos;
      EXPECT_TRUE(is_short || is_long) << driver.name << " " << option;
      if (blank != std::string::npos) {
        EXPECT_EQ(option.find(' ', blank + 1), std::string::npos) << option;
        EXPECT_GT(option.size(), blank + 1) << option;
        // A name of the value, or the values that there are.
        const bool choice = option.find('|') != std::string::npos;
        const char* letters = choice ? "abcdefghijklmnopqrstuvwxyz0123456789|" : "ABCDEFGHIJKLMNOPQRSTUVWXYZ-";
        EXPECT_EQ(option.find_first_not_of(letters, blank + 1), std::string::npos) << option;
      }
      // -m of xfs, -E of ext4 and the properties of zfs take the user's parts beside the tool's.
      const bool shared = name == "-m" || name == "-E" || (driver.pool && (name == "-o" || name == "-O"));
      EXPECT_TRUE(shared || !own.contains(name)) << driver.name << " sets " << name << " itself";
    }
    for (const std::string& part : driver.refused_mkfs_suboptions) {
      EXPECT_EQ(part.find_first_of(" =,:ABCDEFGHIJKLMNOPQRSTUVWXYZ"), std::string::npos) << driver.name << " " << part;
    }
  }
}

TEST(Drivers, MkfsOptionsThatNameDevicesOrMakeNoFileSystemAreNotOffered) {
  const std::pair<const char*, std::vector<const char*>> forbidden[] = {
      {"ext2", {"-d", "-F", "-l", "-L", "-M", "-n", "-q", "-r", "-S", "-t", "-U", "-V", "-z"}},
      {"xfs", {"-c", "-C", "-f", "-L", "-N", "-p", "-q", "-V"}},
      {"btrfs",
       {"-f", "--force", "-L", "--label", "-q", "--quiet", "-r", "--rootdir", "--shrink", "-U", "--uuid", "-V",
        "--version", "--help", "--device-uuid", "--subvol"}},
      {"reiserfs",
       {"-B", "--badblocks", "-d", "-f", "--format", "-j", "--journal-device", "-l", "--label", "-o",
        "--journal-offset", "-q", "--quiet", "-u", "--uuid", "-V"}},
      {"jfs", {"-j", "-J", "-L", "-q", "-V"}},
      {"f2fs", {"-c", "-d", "-f", "-g", "-h", "-l", "-q", "-S", "-U", "-V"}},
      {"nilfs2", {"-f", "-h", "-L", "-n", "-q", "-v", "-V"}},
      {"zfs", {"-f", "-m", "-n", "-R", "-t"}}};
  for (const auto& [filesystem, names] : forbidden) {
    for (const std::string& option : find(filesystem)->mkfs_options) {
      for (const char* name : names) EXPECT_NE(option.substr(0, option.find(' ')), name) << filesystem;
    }
  }
  for (const char* other : {"ext3", "ext4"}) EXPECT_EQ(find(other)->mkfs_options, find("ext2")->mkfs_options);
  const auto refuses = [](const char* filesystem, const char* part) {
    const std::vector<std::string>& parts = find(filesystem)->refused_mkfs_suboptions;
    return std::find(parts.begin(), parts.end(), part) != parts.end();
  };
  for (const char* part : {"device", "journal_dev", "offset"}) EXPECT_TRUE(refuses("ext4", part)) << part;
  for (const char* part : {"name", "file", "logdev", "rtdev", "uuid"}) EXPECT_TRUE(refuses("xfs", part)) << part;
}

}  // namespace
}  // namespace mongo::fsdrivers
