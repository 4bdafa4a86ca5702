#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <string>
#include <string_view>
#include <unordered_set>

#include "naive_tree.h"
#include "phases/phase.h"
#include "support.h"

namespace mongo::phases {
namespace {

using testing::branchy;
using testing::file_bytes;
using testing::listing;
using testing::Outcome;
using testing::run_phase;
using testing::Scratch;
using testing::Settings;
using testing::text;
using Listing = std::map<std::string, std::string>;

constexpr std::uint64_t branchy_files = 1173;
constexpr std::uint64_t branchy_bytes = 5284544;

Listing expected_tree() {
  Listing expected;
  for (const auto& [name, size] : testing::naive_tree(branchy())) {
    expected[name] = size < 0 ? "dir" : "file " + std::to_string(size);
  }
  return expected;
}

Outcome run(const char* name, const Scratch& scratch) { return run_phase(name, scratch, {.tree = branchy()}); }

TEST(Create, MakesThePlannedTree) {
  const Scratch scratch;
  EXPECT_EQ(text(run("create", scratch)), "1173 files, 5284544 bytes");
  EXPECT_EQ(listing(scratch / "testdir1-1-1"), expected_tree());
  EXPECT_EQ(listing(scratch.path()).size(), 1 + branchy_files + 38);
}

TEST(Create, ModesAreTheOriginalsUnderTheUmask) {
  const Scratch scratch;
  run_phase("create", scratch, {.tree = branchy(), .prepare = [] { umask(027); }});
  struct stat status;
  ASSERT_EQ(stat((scratch / "testdir1-1-1/1").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777u, 0750u);
  ASSERT_EQ(stat((scratch / "testdir1-1-1/d0").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777u, 0750u);
}

TEST(Create, ContentIsSeededByRepetitionAndProcessAndNotByTheBuffer) {
  const Scratch scratch;
  EXPECT_TRUE(run_phase("create", scratch, {.tree = branchy()}).failures.empty());
  EXPECT_TRUE(run_phase("create", scratch, {.tree = branchy(), .process = 2}).failures.empty());
  EXPECT_TRUE(run_phase("create", scratch, {.tree = branchy(), .repetition = 3}).failures.empty());
  const Scratch other;
  EXPECT_TRUE(run_phase("create", other, {.tree = branchy(), .write_buffer_size = 100000}).failures.empty());
  for (const std::string name : {"/1", "/d0/d2/153", "/d0/d1/29"}) {
    const std::string bytes = file_bytes(scratch / "testdir1-1-1" + name);
    EXPECT_NE(bytes, file_bytes(scratch / "testdir1-1-2" + name));
    EXPECT_NE(bytes, file_bytes(scratch / "testdir1-3-1" + name));
    EXPECT_EQ(bytes, file_bytes(other / "testdir1-1-1" + name));
  }
}

TEST(Create, FilesDoNotCompressAndShareNoBlock) {
  const Scratch scratch;
  run("create", scratch);
  const std::string compressed =
      testing::output_of("find " + scratch.path() + " -type f -exec cat {} + | gzip -c | wc -c");
  EXPECT_GT(std::stoul(compressed), branchy_bytes * 97 / 100);
  std::unordered_set<std::string> blocks;
  std::size_t count = 0;
  for (const auto& [name, what] : listing(scratch.path())) {
    if (what.starts_with("file ")) {
      const std::string bytes = file_bytes(scratch / name);
      for (std::size_t at = 0; at + 4096 <= bytes.size(); at += 4096, ++count) {
        blocks.insert(bytes.substr(at, 4096));
      }
    }
  }
  EXPECT_GT(count, 500u);
  EXPECT_EQ(blocks.size(), count);
}

TEST(Create, LetterA) {
  const Scratch scratch;
  run_phase("create", scratch, {.tree = branchy(), .content = {ContentKind::letter_a}});
  EXPECT_EQ(listing(scratch / "testdir1-1-1"), expected_tree());
  EXPECT_EQ(testing::output_of("find " + scratch.path() + " -type f -exec cat {} + | tr -d a | wc -c"), "0\n");
}

TEST(Copy, IsTheSameByteForByte) {
  const Scratch scratch;
  run("create", scratch);
  EXPECT_EQ(text(run("copy", scratch)), "1173 files, 5284544 bytes");
  EXPECT_EQ(listing(scratch / "testdir2-1-1"), expected_tree());
  EXPECT_EQ(testing::output_of("diff -r " + scratch / "testdir1-1-1" + " " + scratch / "testdir2-1-1 2>&1"), "");
}

TEST(Copy, WithOtherBuffers) {
  for (const std::size_t size : {100u, 1u << 20}) {
    const Scratch scratch;
    run("create", scratch);
    const Settings settings{.tree = branchy(), .write_buffer_size = size};
    EXPECT_EQ(text(run_phase("copy", scratch, settings)), "1173 files, 5284544 bytes");
    EXPECT_EQ(testing::output_of("diff -r " + scratch / "testdir1-1-1" + " " + scratch / "testdir2-1-1 2>&1"), "");
    EXPECT_EQ(text(run_phase("read", scratch, settings)), "2346 files, 10569088 bytes");
  }
}

TEST(Symlink, EachFileGetsALinkToItsAbsolutePath) {
  const Scratch scratch;
  run("create", scratch);
  EXPECT_EQ(text(run("symlink", scratch)), "1173 files, 0 bytes");
  Listing expected = expected_tree();
  for (const auto& [name, what] : expected_tree()) {
    if (what != "dir") {
      expected[name + ".lnk"] = "link " + scratch.path() + "/testdir1-1-1/" + name;
    }
  }
  EXPECT_EQ(listing(scratch / "testdir1-1-1"), expected);
}

TEST(ReadAndStat, GoThroughAllOfTheFileSystem) {
  const Scratch scratch;
  run("create", scratch);
  run("copy", scratch);
  run_phase("create", scratch, {.tree = branchy(), .repetition = 2, .process = 3});
  run("symlink", scratch);  // links are not followed
  EXPECT_EQ(text(run("read", scratch)), "3519 files, 15853632 bytes");
  EXPECT_EQ(text(run("stat", scratch)), "3519 files, 0 bytes");
}

TEST(Rename, LeavesLinksCopiesAndOtherTreesAlone) {
  const Scratch scratch;
  run("create", scratch);
  run("copy", scratch);
  run_phase("create", scratch, {.tree = branchy(), .process = 2});
  run("symlink", scratch);
  Listing expected;
  for (const auto& [name, what] : listing(scratch.path())) {
    expected[what.starts_with("file") && name.starts_with("testdir1-1-1/") ? name + ".r" : name] = what;
  }
  EXPECT_EQ(text(run("rename", scratch)), "1173 files, 0 bytes");
  EXPECT_EQ(listing(scratch.path()), expected);
  EXPECT_EQ(text(run("rename", scratch)), "0 files, 0 bytes");  // nothing is renamed twice
}

TEST(Delete, RemovesItsTwoTreesAndNothingElse) {
  const Scratch scratch;
  run("create", scratch);
  run("copy", scratch);
  run_phase("create", scratch, {.tree = branchy(), .process = 2});
  run("symlink", scratch);
  run("rename", scratch);
  EXPECT_EQ(text(run("delete", scratch)), "3519 files, 0 bytes");
  EXPECT_EQ(testing::output_of("ls -A " + scratch.path()), "testdir1-1-2\n");
  EXPECT_EQ(listing(scratch / "testdir1-1-2"), expected_tree());
  EXPECT_EQ(text(run_phase("delete", scratch, {.tree = branchy(), .process = 2})), "1173 files, 0 bytes");
  EXPECT_EQ(text(run("delete", scratch)), "0 files, 0 bytes");
}

TEST(Delete, RemovesWhatIsNeitherFileNorDirectory) {
  const Scratch scratch;
  mkdir((scratch / "testdir1-1-1").c_str(), 0755);
  ASSERT_EQ(mkfifo((scratch / "testdir1-1-1/pipe").c_str(), 0644), 0);
  ASSERT_EQ(symlink(scratch.path().c_str(), (scratch / "testdir1-1-1/link").c_str()), 0);
  testing::make_file(scratch / "outside", "stays");
  EXPECT_EQ(text(run("delete", scratch)), "2 files, 0 bytes");
  EXPECT_EQ(testing::output_of("ls -A " + scratch.path()), "outside\n");
}

/// How many files the tree's own phases and the stat phase should count after each other, with nothing failing.
TEST(Phases, InterruptedByNothingInALargeDirectory) {
  const Scratch scratch;
  const std::string directory = scratch / "testdir1-1-1";
  mkdir(directory.c_str(), 0755);
  for (int i = 0; i < 20000; ++i) {
    close(open((directory + "/" + std::to_string(i)).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  }
  EXPECT_EQ(text(run("symlink", scratch)), "20000 files, 0 bytes");
  EXPECT_EQ(text(run("rename", scratch)), "20000 files, 0 bytes");
  EXPECT_EQ(text(run("stat", scratch)), "20000 files, 0 bytes");
  EXPECT_EQ(testing::output_of("ls -U " + directory + " | grep -c '^[0-9]*\\.r$'"), "20000\n");
  EXPECT_EQ(testing::output_of("ls -U " + directory + " | grep -c '^[0-9]*\\.lnk$'"), "20000\n");
  EXPECT_EQ(text(run("delete", scratch)), "40000 files, 0 bytes");
  EXPECT_EQ(testing::output_of("ls -A " + scratch.path()), "");
}

}  // namespace
}  // namespace mongo::phases
