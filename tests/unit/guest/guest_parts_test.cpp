#include <gtest/gtest.h>

#include <boost/filesystem.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "harness/guest/guest_console.h"
#include "harness/guest/guest_modules.h"
#include "harness/guest/uml.h"
#include "harness/guest/words.h"

namespace mongo {
namespace {

namespace fs = boost::filesystem;

TEST(GuestWords, AnyTextIsOneWordAndComesBack) {
  std::string all;
  for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
  for (const std::string& text :
       {std::string(), std::string("mem=1"), std::string("--version"), std::string("a b\"c%41"), all}) {
    const std::string word = guest::encode(text);
    EXPECT_EQ(word.find_first_of(" \t\n\"'=\\"), std::string::npos) << word;
    EXPECT_TRUE(word.starts_with(':'));
    EXPECT_EQ(guest::decode(word), text);
  }
  EXPECT_EQ(guest::encode("/var/tmp/x-1.img"), ":/var/tmp/x-1.img");
  EXPECT_EQ(guest::decode("plain"), "plain");
}

TEST(GuestConsole, SortsLinesHoweverTheyAreCut) {
  const std::string text = "first\r\n\n@mongo one\r\nKernel panic - not syncing: VFS: no root\n@mongo two\nlast";
  for (const std::size_t part : {std::size_t{1}, std::size_t{7}, text.size()}) {
    std::vector<std::string> told;
    guest::GuestConsole console([&](const std::string& line) { told.push_back(line); });
    for (std::size_t i = 0; i < text.size(); i += part) console.add(text.data() + i, std::min(part, text.size() - i));
    console.end();
    EXPECT_EQ(told, (std::vector<std::string>{"one", "two"}));
    EXPECT_EQ(console.panic(), "VFS: no root");
    EXPECT_EQ(console.last_line(), "last");
    EXPECT_EQ(console.tail().find("@mongo"), std::string::npos);
  }
}

TEST(GuestConsole, KeepsTheEndOfWhatHasNoEnd) {
  guest::GuestConsole console(nullptr);
  const std::string endless(1 << 20, 'x');
  console.add(endless.data(), endless.size());
  for (int i = 0; i < 10000; ++i) console.add("\nline\x1b[2J", 10);
  console.end();
  EXPECT_LE(console.tail().size(), 16384U);
  EXPECT_EQ(console.tail().find('\x1b'), std::string::npos);
  EXPECT_TRUE(console.tail().starts_with("line"));
}

class GuestModulesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fs::unique_path("mongo-test-%%%%%%%%");
    fs::create_directories(folder_);
    put("modules.builtin", "kernel/fs/jfs/jfs.ko\n");
    put("modules.builtin.modinfo", std::string("jfs.license=GPL\0jfs.alias=fs-jfs\0ext4.alias=fs-ext3\0", 52));
    put("modules.alias", "# Aliases\nalias fs-f2fs f2fs\nalias crc32 crc32_generic\nalias fs-far far_fs\n");
    put("modules.softdep", "# Soft\nsoftdep nfsd pre: md5\nsoftdep f2fs pre: crc32 post: other\n");
    put("modules.dep",
        "kernel/fs/f2fs/f2fs.ko:\nkernel/crypto/crc32_generic.ko:\nkernel/x/other.ko:\n"
        "kernel/fs/far-fs.ko: kernel/b.ko kernel/a.ko\nkernel/a.ko:\nkernel/b.ko: kernel/a.ko\n");
  }
  void TearDown() override { fs::remove_all(folder_); }
  void put(const std::string& name, const std::string& text) {
    std::ofstream((folder_ / name).string(), std::ios::binary) << text;
  }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  fs::path folder_;
};

TEST_F(GuestModulesTest, BuiltIn) {
  const GuestModules modules(folder_.string());
  EXPECT_TRUE(modules.known());
  EXPECT_TRUE(modules.built_in("jfs"));
  EXPECT_TRUE(modules.built_in("ext3"));
  EXPECT_FALSE(modules.built_in("fs"));
  EXPECT_FALSE(modules.built_in("f2fs"));
  EXPECT_TRUE(modules.files_for("jfs").empty());
}

TEST_F(GuestModulesTest, WhatIsNeededComesFirst) {
  const GuestModules modules(folder_.string());
  EXPECT_EQ(modules.files_for("f2fs"),
            (std::vector<std::string>{file("kernel/crypto/crc32_generic.ko"), file("kernel/fs/f2fs/f2fs.ko")}));
  EXPECT_EQ(modules.files_for("far"),
            (std::vector<std::string>{file("kernel/a.ko"), file("kernel/b.ko"), file("kernel/fs/far-fs.ko")}));
  EXPECT_TRUE(modules.files_for("zfs").empty());
  EXPECT_FALSE(GuestModules("/nowhere").known());
  EXPECT_TRUE(GuestModules("/nowhere").files_for("f2fs").empty());
}

TEST(GuestCpu, WhatAnEndedProcessHasUsedIsNotKnown) {
  GuestCpu before, after;
  before.seconds_of = {{7, 1.0}, {8, 2.0}};
  after.seconds_of = {{7, 1.25}, {8, 2.5}, {9, 0.25}};
  EXPECT_EQ(cpu_between(before, after), 1.0);
  after.seconds_of.erase(8);
  EXPECT_EQ(cpu_between(before, after), std::nullopt);
}

TEST(GuestAvailability, WithoutTheProgramItSaysWhatToInstall) {
  if (!guest_version().empty()) GTEST_SKIP() << "linux.uml is installed";
  EXPECT_NE(why_no_guest().value_or("").find("user-mode-linux"), std::string::npos);
  EXPECT_FALSE(guest_supports("ext4"));
}

}  // namespace
}  // namespace mongo
