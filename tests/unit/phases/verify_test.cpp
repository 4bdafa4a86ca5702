#include "phases/support/verify.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <string>

#include "phases/catalogue.h"
#include "phases/support/tree.h"
#include "support.h"

namespace mongo::phases {
namespace {

using testing::branchy;
using testing::file_bytes;
using testing::make_file;
using testing::run_phase;
using testing::Scratch;
using testing::Settings;
using testing::text;
using testing::verify_phase;

const std::string well = "1173 files, 5284544 bytes";
const std::string both_well = "2346 files, 10569088 bytes";
// 193831 bytes, several pieces of the comparison.
const std::string large = "d35/d37/1048";

/// A tree and whatever else the phases make, in a scratch directory.
class VerifyTest : public ::testing::Test {
 protected:
  void run(std::initializer_list<const char*> phases, const Settings& settings = {.tree = branchy()}) {
    for (const char* name : phases) {
      ASSERT_TRUE(run_phase(name, scratch_, settings).failures.empty()) << name;
    }
  }
  std::string verify(const char* name, const Settings& settings = {.tree = branchy()}) {
    return text(verify_phase(name, scratch_, settings));
  }
  /// The errors alone: how much was right is of less interest when something is not.
  std::string differences(const char* name) {
    const std::string all = verify(name);
    const std::size_t at = all.find("; ");
    return at == std::string::npos ? "" : all.substr(at + 2);
  }
  std::string in_tree(const std::string& name) const { return scratch_ / "testdir1-1-1/" + name; }
  std::string in_copy(const std::string& name) const { return scratch_ / "testdir2-1-1/" + name; }

  static void change_byte(const std::string& path, std::streamoff offset) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(offset);
    const int byte = file.get();
    file.seekp(offset);
    file.put(static_cast<char>(byte ^ 1));
    ASSERT_TRUE(file.good()) << path;
  }
  static void move(const std::string& from, const std::string& to) {
    ASSERT_EQ(rename(from.c_str(), to.c_str()), 0) << from;
  }

  Scratch scratch_;
};

TEST_F(VerifyTest, AnUntouchedTreeIsRightAfterEachPhase) {
  run({"create"});
  EXPECT_EQ(verify("create"), well);
  EXPECT_EQ(verify("read"), well);  // there is no copy
  run({"copy"});
  EXPECT_EQ(verify("copy"), well);
  run({"symlink"});
  EXPECT_EQ(verify("symlink"), "1173 files, 0 bytes");
  run({"read"});
  EXPECT_EQ(verify("read"), both_well);
  run({"stat", "rename"});
  EXPECT_EQ(verify("rename"), well);
  EXPECT_EQ(find("stat")->verify, nullptr);
  EXPECT_EQ(find("delete")->verify, nullptr);
}

TEST_F(VerifyTest, EachKindOfContentWithOtherBuffersAndRepetitions) {
  for (const ContentSpec& content : {ContentSpec{ContentKind::letter_a}, ContentSpec{ContentKind::zero},
                                     ContentSpec{ContentKind::compressible, 50}, ContentSpec{ContentKind::random}}) {
    Settings settings{.tree = branchy(), .repetition = 2, .process = 3, .content = content};
    run({"create", "copy"}, settings);
    for (const std::size_t size : {100u, 4096u, 65537u, 1u << 20}) {
      settings.write_buffer_size = size;
      EXPECT_EQ(verify("create", settings), well) << content_name(content) << size;
      EXPECT_EQ(verify("read", settings), both_well) << content_name(content) << size;
    }
    EXPECT_EQ(verify("copy", settings), well) << content_name(content);
    run({"delete"}, settings);
  }
}

TEST_F(VerifyTest, OtherContentIsNoticed) {
  run({"create"});
  for (const Settings& other : {Settings{.tree = branchy(), .content = {ContentKind::zero}},
                                Settings{.tree = branchy(), .content = {ContentKind::compressible, 50}}}) {
    EXPECT_NE(verify("create", other), well);
  }
  move(scratch_ / "testdir1-1-1", scratch_ / "testdir1-1-2");
  EXPECT_NE(verify("create", {.tree = branchy(), .process = 2}), well);
}

TEST_F(VerifyTest, AChangedByte) {
  run({"create", "copy"});
  for (const long offset : {0L, 1L, 4095L, 4096L, 65535L, 65536L, 100000L, 193830L}) {
    change_byte(in_tree(large), offset);
    const std::string place = " at byte " + std::to_string(offset);
    EXPECT_EQ(verify("create").substr(0, 11), "1172 files,");
    EXPECT_EQ(differences("create"), "verify - x1 testdir1-1-1/" + large + place);
    EXPECT_EQ(differences("read"), "verify - x1 testdir1-1-1/" + large + place);
    EXPECT_EQ(differences("copy"), "verify - x1 testdir2-1-1/" + large + place);
    change_byte(in_tree(large), offset);
  }
  change_byte(in_copy(large), 70000);
  EXPECT_EQ(differences("create"), "");
  EXPECT_EQ(differences("read"), "verify - x1 testdir2-1-1/" + large + " at byte 70000");
  EXPECT_EQ(differences("copy"), "verify - x1 testdir2-1-1/" + large + " at byte 70000");
}

TEST_F(VerifyTest, ManyDifferencesInOneFileAreOne) {
  run({"create"});
  make_file(in_tree(large), std::string(193831, 'x'));
  make_file(in_tree("1"), file_bytes(in_tree("1")) + "x");
  const testing::Outcome outcome = verify_phase("create", scratch_, {.tree = branchy()});
  ASSERT_EQ(outcome.failures.size(), 1u);
  EXPECT_EQ(outcome.failures[0].count, 2u);
  EXPECT_EQ(outcome.files, 1171u);
}

TEST_F(VerifyTest, AWrongSize) {
  run({"create", "copy"});
  ASSERT_EQ(truncate(in_copy(large).c_str(), 193830), 0);
  const std::string shorter = "verify - x1 testdir2-1-1/" + large + " has 193830 bytes instead of 193831";
  EXPECT_EQ(differences("read"), shorter);
  EXPECT_EQ(differences("copy"), shorter);
  ASSERT_EQ(truncate(in_copy(large).c_str(), 193831), 0);
  EXPECT_EQ(differences("copy"), "verify - x1 testdir2-1-1/" + large + " at byte 193830");
  ASSERT_EQ(truncate(in_copy(large).c_str(), 193832), 0);
  EXPECT_EQ(differences("copy"), "verify - x1 testdir2-1-1/" + large + " has 193832 bytes instead of 193831");
  make_file(in_tree("d35/d37/1173"), "x");
  EXPECT_EQ(differences("create"), "verify - x1 testdir1-1-1/d35/d37/1173 has 1 bytes instead of 0");
}

TEST_F(VerifyTest, AMissingFile) {
  run({"create", "copy"});
  ASSERT_EQ(unlink(in_copy(large).c_str()), 0);
  EXPECT_EQ(differences("create"), "");
  EXPECT_EQ(differences("read"), "verify - x1 testdir2-1-1/" + large + " is missing");
  EXPECT_EQ(differences("copy"), "verify - x1 testdir2-1-1/" + large + " is missing");
  ASSERT_EQ(unlink(in_tree(large).c_str()), 0);
  EXPECT_EQ(differences("create"), "verify - x1 testdir1-1-1/" + large + " is missing");
  EXPECT_EQ(differences("copy"), "");
}

TEST_F(VerifyTest, AnAdditionalFile) {
  run({"create", "copy"});
  for (const char* name : {"d35/extra", "d35/959.r", "d35/0", "d35/0959", "d35/1174", "d35/99999999999999999999"}) {
    make_file(in_copy(name), "x");
    EXPECT_EQ(differences("read"), "verify - x1 testdir2-1-1/" + std::string(name) + " is not of the tree");
    EXPECT_EQ(differences("copy"), "verify - x1 testdir2-1-1/" + std::string(name) + " is not in the original");
    move(in_copy(name), in_tree(name));
    EXPECT_EQ(differences("create"), "verify - x1 testdir1-1-1/" + std::string(name) + " is not of the tree");
    EXPECT_EQ(differences("copy"), "verify - x1 testdir2-1-1/" + std::string(name) + " is missing");
    ASSERT_EQ(unlink(in_tree(name).c_str()), 0);
  }
  // A name of the tree in a wrong place.
  make_file(in_copy("d35/1"), "x");
  EXPECT_EQ(differences("read"), "verify - x1 testdir2-1-1 has 1174 files instead of 1173");
  EXPECT_EQ(differences("copy"), "verify - x1 testdir2-1-1/d35/1 is not in the original");
}

TEST_F(VerifyTest, AMovedFile) {
  run({"create"});
  move(in_tree("1"), in_tree("d35/1"));
  EXPECT_EQ(verify("create").substr(0, 4), "1172");
  EXPECT_EQ(differences("create"), "verify - x1 testdir1-1-1/1 is missing");
}

TEST_F(VerifyTest, DirectoriesMissingAndAdditional) {
  run({"create", "copy"});
  ASSERT_EQ(mkdir(in_copy("d35/new").c_str(), 0755), 0);
  make_file(in_copy("d35/new/1"), "x");
  EXPECT_EQ(differences("read"), "verify - x1 testdir2-1-1/d35/new is not of the tree");
  EXPECT_EQ(differences("copy"), "verify - x1 testdir2-1-1/d35/new is not in the original");
  move(in_copy("d35/new"), in_copy("d35/d0"));
  ASSERT_EQ(unlink(in_copy("d35/d0/1").c_str()), 0);
  EXPECT_EQ(differences("read"), "verify - x1 testdir2-1-1 has 39 directories instead of 38");
  EXPECT_EQ(differences("copy"), "verify - x1 testdir2-1-1/d35/d0 is not in the original");
  ASSERT_EQ(rmdir(in_copy("d35/d0").c_str()), 0);

  move(in_copy("d0"), scratch_ / "elsewhere");
  EXPECT_EQ(differences("read"), "verify - x1 testdir2-1-1/d0 is missing");
  EXPECT_EQ(differences("copy"), "verify - x1 testdir2-1-1/d0 is missing");
  ASSERT_EQ(symlink((scratch_ / "elsewhere").c_str(), in_copy("d0").c_str()), 0);
  EXPECT_EQ(differences("read"), "verify - x1 testdir2-1-1/d0 is not a directory");
  EXPECT_EQ(differences("copy"), "verify - x1 testdir2-1-1/d0 is not a directory");
}

TEST_F(VerifyTest, TheWholeTreeMissing) {
  EXPECT_EQ(verify("create"), "0 files, 0 bytes; verify - x1 testdir1-1-1 is missing");
  EXPECT_EQ(verify("read"), "0 files, 0 bytes; verify - x1 testdir1-1-1 is missing");
  EXPECT_EQ(verify("rename"), "0 files, 0 bytes; verify - x1 testdir1-1-1 is missing");
  run({"create"});
  EXPECT_EQ(verify("copy"), "0 files, 0 bytes; verify - x1 testdir2-1-1 is missing");
}

TEST_F(VerifyTest, WhatIsNoFile) {
  run({"create", "copy"});
  ASSERT_EQ(unlink(in_copy("1").c_str()), 0);
  ASSERT_EQ(mkfifo(in_copy("1").c_str(), 0644), 0);  // opening it would never end
  EXPECT_EQ(differences("read"), "verify - x1 testdir2-1-1/1 is not a regular file");
  EXPECT_EQ(differences("copy"), "verify - x1 testdir2-1-1/1 is not a regular file");
  ASSERT_EQ(unlink(in_copy("1").c_str()), 0);
  ASSERT_EQ(symlink(in_tree("1").c_str(), in_copy("1").c_str()), 0);
  EXPECT_EQ(differences("copy"), "verify - x1 testdir2-1-1/1 is not a regular file");
}

TEST_F(VerifyTest, Links) {
  run({"create", "symlink"});
  const std::string link = in_tree("d35/959.lnk");
  ASSERT_EQ(unlink(link.c_str()), 0);
  EXPECT_EQ(verify("symlink"), "1172 files, 0 bytes; verify - x1 testdir1-1-1/d35/959.lnk is missing");
  make_file(link, "");
  EXPECT_EQ(verify("symlink"), "1172 files, 0 bytes; verify - x1 testdir1-1-1/d35/959.lnk is not a symbolic link");
  ASSERT_EQ(unlink(link.c_str()), 0);
  ASSERT_EQ(symlink("959", link.c_str()), 0);  // leads to the same file
  EXPECT_EQ(verify("symlink"), "1172 files, 0 bytes; verify - x1 testdir1-1-1/d35/959.lnk points to 959 instead of " +
                                   shown(in_tree("d35/959")));
  ASSERT_EQ(unlink(link.c_str()), 0);
  ASSERT_EQ(symlink((in_tree("d35/959") + std::string(900, '\n')).c_str(), link.c_str()), 0);
  EXPECT_EQ(verify("symlink"), "1172 files, 0 bytes; verify - x1 testdir1-1-1/d35/959.lnk points to ..." +
                                   std::string(61, '?') + " instead of " + shown(in_tree("d35/959")));
}

TEST_F(VerifyTest, Renamed) {
  run({"create", "rename"});
  move(in_tree("d35/959.r"), in_tree("d35/959"));
  EXPECT_EQ(differences("rename"), "verify - x2 testdir1-1-1/d35/959.r is missing");  // and 959 is not of the tree
  move(in_tree("d35/959"), in_tree("d35/959.r"));
  change_byte(in_tree("d35/959.r"), 7);
  EXPECT_EQ(differences("rename"), "verify - x1 testdir1-1-1/d35/959.r at byte 7");
}

TEST_F(VerifyTest, FailedCallsAreCountedAsThemselves) {
  run({"create", "copy", "symlink"});
  const auto with_broken = [&](const char* name, long call) {
    return verify(name, {.tree = branchy(), .prepare = [call] { testing::break_system_call(call); }});
  };
  EXPECT_EQ(with_broken("create", SYS_read), "0 files, 0 bytes; read EIO x1173 testdir1-1-1/1");
  EXPECT_TRUE(with_broken("copy", SYS_read).starts_with("0 files, 0 bytes; read EIO x1173 testdir2-1-1/"));
  EXPECT_TRUE(with_broken("symlink", SYS_readlinkat).starts_with("0 files, 0 bytes; readlink EIO x1173 testdir1-1-1/"));
  EXPECT_EQ(with_broken("create", SYS_newfstatat), "0 files, 0 bytes; lstat EIO x1 testdir1-1-1");
}

TEST_F(VerifyTest, DeepTreesWithFewDescriptors) {
  const Settings settings{.tree = testing::chain(2000), .prepare = [] {
                            const rlimit few{64, 64};
                            setrlimit(RLIMIT_NOFILE, &few);
                          }};
  const TreePlan plan = plan_tree(settings.tree);
  run({"create", "copy"}, settings);
  const auto expected = [&](std::uint64_t trees) {
    return std::to_string(trees * plan.files) + " files, " + std::to_string(trees * plan.total_bytes) + " bytes";
  };
  EXPECT_EQ(verify("create", settings), expected(1));
  EXPECT_EQ(verify("copy", settings), expected(1));
  EXPECT_EQ(verify("read", settings), expected(2));
  run({"rename"}, settings);
  EXPECT_EQ(verify("rename", settings), expected(1));
}

TEST(Shown, IsShortAndPrintable) {
  EXPECT_EQ(shown("/a/b c"), "/a/b c");
  EXPECT_EQ(shown("a\nb\x7f\xff"), "a?b??");
  EXPECT_EQ(shown(std::string(64, 'a')), std::string(64, 'a'));
  EXPECT_EQ(shown(std::string(100, 'a') + "end"), "..." + std::string(58, 'a') + "end");
  EXPECT_EQ(shown(""), "");
}

}  // namespace
}  // namespace mongo::phases
