#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <string>

#include "naive_tree.h"
#include "phases/support/tree.h"
#include "support.h"

namespace mongo::phases {
namespace {

using testing::branchy;
using testing::listing;
using testing::Outcome;
using testing::run_phase;
using testing::Scratch;
using testing::Settings;
using testing::text;

/// The rules for access are those of an ordinary user then, whoever runs the tests.
void become_ordinary() {
  if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) {
    _exit(98);
  }
}

void let_everyone_write(const Scratch& scratch) { chmod(scratch.path().c_str(), 0777); }

TEST(Errors, ExistingFileIsNotTouchedAndNotCounted) {
  const Scratch scratch;
  testing::make_file(scratch / "testdir1-1-1", "mine");
  EXPECT_EQ(text(run_phase("create", scratch, {.tree = branchy()})), "0 files, 0 bytes; mkdir EEXIST x1 testdir1-1-1");
  EXPECT_EQ(testing::file_bytes(scratch / "testdir1-1-1"), "mine");
  EXPECT_EQ(listing(scratch.path()).size(), 1u);
}

TEST(Errors, ExistingTreeIsLeftAlone) {
  const Scratch scratch;
  mkdir((scratch / "testdir1-1-1").c_str(), 0755);
  EXPECT_EQ(text(run_phase("create", scratch, {.tree = branchy()})), "0 files, 0 bytes; mkdir EEXIST x1 testdir1-1-1");
  EXPECT_EQ(listing(scratch.path()).size(), 1u);
}

TEST(Errors, FilesBeyondTheLimitAreCutAndNotCounted) {
  const Scratch scratch;
  const Outcome outcome = run_phase("create", scratch, {.tree = branchy(), .prepare = [] {
                                                          signal(SIGXFSZ, SIG_IGN);
                                                          const rlimit small{10000, 10000};
                                                          setrlimit(RLIMIT_FSIZE, &small);
                                                        }});
  std::map<std::string, std::string> expected;
  std::uint64_t bytes = 0;
  std::uint64_t cut = 0;
  for (const auto& [name, size] : testing::naive_tree(branchy())) {
    expected[name] = size < 0 ? "dir" : "file " + std::to_string(std::min(size, 10000ll));
    bytes += static_cast<std::uint64_t>(std::max(std::min(size, 10000ll), 0ll));
    cut += size > 10000;
  }
  ASSERT_GT(cut, 10u);
  EXPECT_EQ(listing(scratch / "testdir1-1-1"), expected);
  EXPECT_EQ(text(outcome), std::to_string(1173 - cut) + " files, " + std::to_string(bytes) + " bytes; write EFBIG x" +
                               std::to_string(cut) + " testdir1-1-1/d0/d1/29");  // the first of more than 10000 bytes
}

TEST(Errors, NoDescriptorLeftForFiles) {
  const Scratch scratch;
  EXPECT_EQ(text(run_phase("create", scratch,
                           {.tree = branchy(),
                            .prepare =
                                [] {
                                  const rlimit none{3, 3};
                                  setrlimit(RLIMIT_NOFILE, &none);
                                }})),
            "0 files, 0 bytes; create EMFILE x1173 testdir1-1-1/1");
  EXPECT_EQ(listing(scratch / "testdir1-1-1").size(), 38u);  // the directories are there
}

TEST(Errors, ReadOnlyMountPoint) {
  const Scratch scratch;
  chmod(scratch.path().c_str(), 0555);
  EXPECT_EQ(text(run_phase("create", scratch, {.tree = branchy(), .prepare = become_ordinary})),
            "0 files, 0 bytes; mkdir EACCES x1 testdir1-1-1");
}

/// Directories are made without the right to enter them: nothing of their subtrees may come to lie elsewhere.
TEST(Errors, DirectoriesThatCannotBeEntered) {
  const Scratch scratch;
  let_everyone_write(scratch);
  EXPECT_EQ(text(run_phase("create", scratch,
                           {.tree = branchy(),
                            .prepare =
                                [] {
                                  become_ordinary();
                                  umask(0111);
                                }})),
            "0 files, 0 bytes; change_directory EACCES x1 testdir1-1-1");
  EXPECT_EQ(testing::output_of("find " + scratch.path() + " -mindepth 1"), scratch / "testdir1-1-1\n");
}

TEST(Errors, SubtreesInAForbiddenDirectoryAreSkipped) {
  const Scratch scratch;
  let_everyone_write(scratch);
  const Settings as_user{.tree = branchy(), .prepare = become_ordinary};
  ASSERT_EQ(text(run_phase("create", scratch, as_user)), "1173 files, 5284544 bytes");
  std::uint64_t hidden = 0;
  std::uint64_t hidden_bytes = 0;
  for (const auto& [name, size] : testing::naive_tree(branchy())) {
    if (name.starts_with("d0/") && size >= 0) {
      ++hidden;
      hidden_bytes += static_cast<std::uint64_t>(size);
    }
  }
  const std::string forbidden = scratch / "testdir1-1-1/d0";
  ASSERT_EQ(chmod(forbidden.c_str(), 0), 0);
  const std::string files = std::to_string(1173 - hidden);
  const std::string bytes = std::to_string(branchy().bytes_to_consume + 284544 - hidden_bytes);
  const std::string error = "; open EACCES x1 testdir1-1-1/d0";
  EXPECT_EQ(text(run_phase("stat", scratch, as_user)), files + " files, 0 bytes" + error);
  EXPECT_EQ(text(run_phase("read", scratch, as_user)), files + " files, " + bytes + " bytes" + error);
  EXPECT_EQ(text(run_phase("copy", scratch, as_user)), files + " files, " + bytes + " bytes" + error);
  EXPECT_EQ(text(run_phase("symlink", scratch, as_user)), files + " files, 0 bytes" + error);
  EXPECT_EQ(text(run_phase("rename", scratch, as_user)), files + " files, 0 bytes" + error);
  const std::string removed = std::to_string(3 * (1173 - hidden));
  EXPECT_EQ(text(run_phase("delete", scratch, as_user)),
            removed + " files, 0 bytes" + error + "; rmdir ENOTEMPTY x1 testdir1-1-1");
  EXPECT_EQ(testing::output_of("find " + scratch.path() + " -mindepth 1 -maxdepth 2 | sort"),
            scratch / "testdir1-1-1\n" + scratch / "testdir1-1-1/d0\n");
  chmod(forbidden.c_str(), 0755);
  EXPECT_EQ(text(run_phase("delete", scratch, as_user)), std::to_string(hidden) + " files, 0 bytes");
}

TEST(Errors, FilesThatCannotBeRemovedAreTriedOnce) {
  const Scratch scratch;
  let_everyone_write(scratch);
  const Settings as_user{.tree = branchy(), .prepare = become_ordinary};
  run_phase("create", scratch, as_user);
  ASSERT_EQ(chmod((scratch / "testdir1-1-1/d0/d2").c_str(), 0555), 0);
  // 161 files in it, 20 to 29 and 191 to 217 beside it; then it, d0 and the tree itself are not empty.
  EXPECT_EQ(text(run_phase("delete", scratch, as_user)).substr(0, 40), "1012 files, 0 bytes; unlink EACCES x161 ");
  const Outcome again = run_phase("delete", scratch, as_user);
  chmod((scratch / "testdir1-1-1/d0/d2").c_str(), 0755);  // so that the scratch directory can be removed
  ASSERT_EQ(again.failures.size(), 2u);
  EXPECT_EQ(again.failures[0].count, 161u);
  EXPECT_EQ(again.failures[1].operation, "rmdir");
  EXPECT_EQ(again.failures[1].error_number, ENOTEMPTY);
  EXPECT_EQ(again.failures[1].count, 3u);
  EXPECT_EQ(again.failures[1].first_path, "testdir1-1-1/d0/d2");
}

TEST(Errors, UnreadableFilesAreNotCounted) {
  const Scratch scratch;
  let_everyone_write(scratch);
  const Settings as_user{.tree = branchy(), .prepare = become_ordinary};
  run_phase("create", scratch, as_user);
  ASSERT_EQ(chmod((scratch / "testdir1-1-1/3").c_str(), 0), 0);
  EXPECT_EQ(text(run_phase("read", scratch, as_user)), "1172 files, 5284507 bytes; open EACCES x1 testdir1-1-1/3");
  EXPECT_EQ(text(run_phase("copy", scratch, as_user)), "1172 files, 5284507 bytes; open EACCES x1 testdir1-1-1/3");
  EXPECT_EQ(access((scratch / "testdir2-1-1/3").c_str(), F_OK), -1);
}

TEST(Errors, ExistingCopyAndLinks) {
  const Scratch scratch;
  const Settings settings{.tree = branchy()};
  run_phase("create", scratch, settings);
  run_phase("copy", scratch, settings);
  EXPECT_EQ(text(run_phase("copy", scratch, settings)), "0 files, 0 bytes; mkdir EEXIST x1 testdir2-1-1");
  testing::make_file(scratch / "testdir1-1-1/5.lnk", "");
  EXPECT_EQ(text(run_phase("symlink", scratch, settings)), "1173 files, 0 bytes; symlink EEXIST x1 testdir1-1-1/5.lnk");
}

TEST(Errors, WithoutATree) {
  const Scratch scratch;
  const Settings settings{.tree = branchy()};
  for (const char* phase : {"copy", "symlink", "rename"}) {
    EXPECT_EQ(text(run_phase(phase, scratch, settings)), "0 files, 0 bytes; open ENOENT x1 testdir1-1-1") << phase;
  }
  for (const char* phase : {"read", "stat", "delete"}) {
    EXPECT_EQ(text(run_phase(phase, scratch, settings)), "0 files, 0 bytes") << phase;
  }
  EXPECT_TRUE(listing(scratch.path()).empty());
}

}  // namespace
}  // namespace mongo::phases
