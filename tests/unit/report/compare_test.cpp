#include "harness/report/compare.h"

#include <gtest/gtest.h>

#include <sstream>

#include "harness/report/column_names.h"
#include "tests/unit/report/samples.h"

namespace mongo {
namespace {

using samples::contains;
using samples::expect_file;
using samples::plain;
using samples::row;

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) longest = std::max(longest, line.size());
  return longest;
}

/// Makes the run look as if it had been made beside `samples::full`.
RunRecord beside_full(RunRecord record) {
  const RunRecord full = samples::full();
  record.device = full.device;
  record.processes = full.processes;
  record.repetitions = full.repetitions;
  record.sync = full.sync;
  record.content = full.content;
  record.verify = full.verify;
  return record;
}

TEST(Compare, SideBySide) {
  RunRecord ext4 = plain("ext4");
  ext4.passes[0].phases[0].seconds = 90.07;
  ext4.passes[0].directories = 242;
  const std::string text = side_by_side({plain(), ext4});
  EXPECT_FALSE(contains(text, "warning"));
  EXPECT_FALSE(contains(text, "["));
  expect_file("compare_two.txt", text);
}

TEST(Compare, CellsWithoutAFigureHaveTheirReason) {
  const std::string text = side_by_side({samples::full(), beside_full(samples::out_of_inodes()),
                                         beside_full(samples::interrupted()), beside_full(samples::unsupported())});
  EXPECT_TRUE(contains(text, "create incomplete: ENOSPC: no inodes left, 53 of 200 files"));
  EXPECT_TRUE(contains(text, "this size was not run, unsupported: mkreiserfs is not installed"));
  EXPECT_TRUE(contains(text, "fragments after create: unknown, FIEMAP is not supported (EOPNOTSUPP)"));
  EXPECT_TRUE(contains(text, "this phase was not run"));
  EXPECT_TRUE(contains(text, "400 files were planned"));
  EXPECT_TRUE(contains(text, "for 53 files; others: 103428"));
  EXPECT_FALSE(contains(text, "warning"));
  EXPECT_LE(longest_line(text), 100U);
  expect_file("compare_without_figures.txt", text);
}

TEST(Compare, TheBestOfARowHasAStar) {
  RunRecord slow = plain("ext4");
  slow.passes[0].phases[0].seconds = 1.3204;  // prints as the other does
  slow.passes[0].phases[1].seconds = 2.7;
  slow.passes[0].phases[2].seconds = 2.4;
  slow.passes[0].phases[3].seconds = 0;
  slow.passes[0].phases[4].seconds = std::nullopt;
  slow.passes[0].phases[5].status = Status::incomplete;
  slow.passes[0].phases[6].seconds = 0.1;
  slow.passes[0].phases[6].operations -= 1;
  const std::string text = side_by_side({plain(), slow});
  EXPECT_EQ(row(text, "Create"), "Create     1.320*    1.320*");
  EXPECT_EQ(row(text, "Copy"), "Copy       2.680*    2.700");
  EXPECT_EQ(row(text, "Slinks"), "Slinks     2.490     2.400*");
  // Nothing to be put in an order where only one cell has a time, or the other's is for fewer files.
  EXPECT_EQ(row(text, "Read"), "Read       6.080  0.000000");
  EXPECT_EQ(row(text, "Stats"), "Stats      0.240         - [1]");
  EXPECT_EQ(row(text, "Rename"), "Rename     1.070         - [2]");
  EXPECT_EQ(row(text, "Delete"), "Delete     5.350     0.100 [3]");
  EXPECT_TRUE(contains(text, "*: the lowest time of its row"));
}

TEST(Compare, NoStarForWhatMayNotBePutInAnOrder) {
  RunRecord incomplete = plain("ext4");
  incomplete.status = Status::incomplete;
  for (PhaseRecord& phase : incomplete.passes[0].phases) phase.seconds = 0.001;
  RunRecord slow = plain("btrfs");
  for (PhaseRecord& phase : slow.passes[0].phases) *phase.seconds *= 2;
  std::string text = side_by_side({plain(), incomplete, slow});
  EXPECT_TRUE(contains(row(text, "Create"), "1.320* 0.001000"));
  EXPECT_FALSE(contains(row(text, "Create"), "0.001000*"));
  EXPECT_FALSE(contains(side_by_side({plain(), incomplete}), "*"));
  EXPECT_FALSE(contains(side_by_side({plain()}), "*"));

  slow.passes[0].phases[0].flags = {"too-short"};
  text = side_by_side({plain(), slow});
  EXPECT_EQ(row(text, "Create"), "Create     1.320   2.640 [1]");
  EXPECT_TRUE(contains(text, "\n[1] too-short: "));
  EXPECT_TRUE(contains(row(text, "Copy"), "2.680*"));

  slow.processes = 2;
  EXPECT_FALSE(contains(side_by_side({plain(), slow}), "*"));
}

TEST(Compare, CachesThatAllShareAreNamedOnce) {
  RunRecord one = plain();
  RunRecord other = plain("ext4");
  for (RunRecord* run : {&one, &other}) {
    run->sync = "each";
    run->verify = true;
    for (PassRecord& pass : run->passes) pass.phases[3].cache = {"drop", "drop", "", 16, 0, 0.5};
  }
  std::string text = side_by_side({one, other});
  EXPECT_TRUE(contains(text, "In all runs: caches: drop before read; fsync after each file; content verified.\n"));
  EXPECT_FALSE(contains(text, "["));
  EXPECT_FALSE(contains(text, "warning"));

  // What only one of them had to put up with is at its cell.
  for (PassRecord& pass : other.passes) pass.phases[3].cache.reason = "4096 bytes were in memory";
  text = side_by_side({one, other});
  EXPECT_TRUE(contains(text, "In all runs: caches: drop before read; "));
  EXPECT_EQ(row(text, "Read"), "Read       6.080*  6.080* [1]");
  EXPECT_TRUE(contains(text, "\n[1] caches: drop (4096 bytes were in memory)\n"));
}

TEST(Compare, CachesThatDifferAreNamedAndMarked) {
  RunRecord other = plain("ext4");
  other.passes[0].phases[3].cache = {"drop", "warm", "drop_caches: Permission denied", std::nullopt, std::nullopt, 0};
  other.passes[0].phases[4].cache = other.passes[0].phases[3].cache;
  other.passes.resize(1);
  RunRecord one = plain();
  one.passes.resize(1);
  const std::string text = side_by_side({one, other});
  EXPECT_TRUE(contains(text, "warning: caches before read, stat differ (xfs: warm; ext4: warm instead of drop); the"));
  EXPECT_EQ(row(text, "Read"), "Read       6.080   6.080 [1]");
  EXPECT_TRUE(contains(text, "\n[1] caches: warm instead of drop (drop_caches: Permission denied)\n"));
  EXPECT_TRUE(contains(row(text, "Create"), "1.320*"));  // of the other phases the times are comparable
}

TEST(Compare, FlagsAndWarningsOfRunsOnce) {
  RunRecord other = samples::full();
  other.filesystem = "ext4";
  RunRecord third = plain("btrfs");
  third.flags = {"ram-device", "new-flag"};
  const std::string text = side_by_side({samples::full(), other, third});
  EXPECT_TRUE(contains(text,
                       "\n\nxfs, ext4: loop-device: figures from a loop device are for trying out, not for choosing a "
                       "disk\nbtrfs: ram-device: "));
  EXPECT_TRUE(contains(text, "\nbtrfs: new-flag\n"));
  EXPECT_TRUE(text.ends_with("\nxfs, ext4: load of 2.30 before the start\n"));
}

TEST(Compare, RunsWithoutFiguresDifferFromNone) {
  const std::string text = side_by_side({plain(), plain("ext4"), samples::unsupported()});
  EXPECT_FALSE(contains(text, "warning"));
  EXPECT_TRUE(contains(text, "1.320*"));
}

TEST(Compare, DifferencesAreNamed) {
  RunRecord other = samples::full();
  other.filesystem = "ext4";
  other.processes = 4;
  other.repetitions = 1;
  other.profile = "big";
  other.device.size_bytes = 1;
  other.host.name = "elsewhere";
  other.host.kernel = "";
  other.sync = "none";
  other.content = "zero";
  other.verify = false;
  other.device.logical_sector_bytes = 4096;
  other.device.direct_io = std::nullopt;
  const std::string text = side_by_side({samples::full(), other});
  EXPECT_TRUE(contains(text, "warning: profiles differ (xfs: classic; ext4: big); the figures are not comparable\n"));
  EXPECT_TRUE(contains(text, "warning: processes differ (xfs: 1; ext4: 4); the figures are not comparable\n"));
  EXPECT_TRUE(contains(text, "warning: repetitions differ (xfs: 3; ext4: 1); the figures are not comparable\n"));
  EXPECT_TRUE(contains(text, "warning: hosts differ (xfs: bench; ext4: elsewhere)"));
  EXPECT_TRUE(contains(text, "warning: devices differ (xfs: loop Disk 9000 S1234 2147483648 bytes; ext4: loop"));
  EXPECT_TRUE(contains(text, "warning: kernels differ (xfs: 6.1.0-18-amd64; ext4: unknown)"));
  EXPECT_TRUE(contains(text, "warning: sync policies differ (xfs: each; ext4: none)"));
  EXPECT_TRUE(contains(text, "warning: contents differ (xfs: compressible:50; ext4: zero)"));
  EXPECT_TRUE(contains(text, "warning: verifications differ (xfs: yes; ext4: no)"));
  EXPECT_TRUE(contains(text, "differ (xfs: 512/4096 bytes; ext4: 4096/4096 bytes)"));
  EXPECT_TRUE(contains(text, "warning: direct I/O settings differ (xfs: yes; ext4: unknown)"));
  EXPECT_FALSE(contains(text, "In all runs: fsync"));
}

RunRecord directory(const std::string& below, const std::string& source) {
  RunRecord run = plain("dir");
  run.device = {};
  run.device.given = "none";
  run.device.kind = "directory";
  run.device.resolved = source;
  run.implementation = below;
  return run;
}

TEST(Compare, DirectoriesOnDifferentFileSystemsAreNotComparable) {
  const std::string text = side_by_side({directory("ext4", "/dev/vda1"), directory("tmpfs", "tmpfs")});
  EXPECT_TRUE(contains(text, "dir (ext4)")) << text;
  EXPECT_TRUE(contains(text, "dir (tmpfs)")) << text;
  EXPECT_TRUE(contains(text, "warning: file systems of the directories differ (dir (ext4): ext4; dir (tmpfs): tmpfs)"))
      << text;
  EXPECT_TRUE(contains(text, "warning: devices differ (dir (ext4): directory on /dev/vda1; dir (tmpfs): directory on"))
      << text;
  EXPECT_FALSE(contains(text, "*")) << text;

  RunRecord later = directory("ext4", "/dev/vda1");
  later.log = "later";
  later.passes[0].phases[0].seconds = 0.5;
  const std::string same = side_by_side({directory("ext4", "/dev/vda1"), later});
  EXPECT_FALSE(contains(same, "warning")) << same;
  EXPECT_TRUE(contains(same, "0.500*")) << same;
  const std::string moved = side_by_side({directory("ext4", "/dev/vda1"), directory("ext4", "/dev/vdb1")});
  EXPECT_TRUE(contains(moved, "warning: devices differ")) << moved;
  EXPECT_FALSE(contains(moved, "*")) << moved;
}

TEST(Compare, FiveFileSystemsFitOnALine) {
  std::vector<RunRecord> runs(5, samples::full());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].mount.requested = "noatime,data=journal,option" + std::to_string(i);
    runs[i].passes[0].phases[0].seconds = 12345.678;
  }
  const std::string text = side_by_side(runs);
  EXPECT_LE(longest_line(text), 100U);
  EXPECT_TRUE(contains(text, "option4"));
}

TEST(Compare, AsciiOnlyAndNoForgedLines) {
  RunRecord hostile = samples::hostile();
  RunRecord other = hostile;
  other.log = "\xc3\xa4\n[1] forged";
  const std::string text = side_by_side({hostile, other});
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f));
  EXPECT_FALSE(contains(text, "\n[1] forged"));
  EXPECT_FALSE(contains(text, "\ndf     : 1"));
}

TEST(Compare, NothingToCompare) {
  EXPECT_EQ(side_by_side({}), "There are no runs to compare.\n");
  const std::string text = side_by_side({samples::unsupported(), samples::unsupported()});
  EXPECT_TRUE(contains(text, "No run has any figures.\n"));
  EXPECT_TRUE(contains(text, "reiserfs #1: unsupported: mkreiserfs is not installed\n"));
  EXPECT_TRUE(contains(text, "reiserfs #2: unsupported: mkreiserfs is not installed\n"));
}

std::vector<std::string> names(const std::vector<RunRecord>& runs) {
  std::vector<std::string> out;
  for (const ColumnName& name : column_names(runs, 16)) {
    out.push_back(name.text);
    for (const std::string& line : name.lines) EXPECT_LE(line.size(), 16U);
  }
  return out;
}

using Names = std::vector<std::string>;

TEST(ColumnNames, OnlyTheFileSystemWhereThatIsEnough) {
  RunRecord ext4 = samples::full();
  ext4.filesystem = "ext4";
  EXPECT_EQ(names({samples::full(), ext4}), (Names{"xfs", "ext4"}));
}

TEST(ColumnNames, WhatTellsRunsApart) {
  const RunRecord one = samples::full();
  RunRecord mounted = one;
  mounted.mount.requested = "";
  EXPECT_EQ(names({one, mounted}), (Names{"xfs noatime", "xfs default mount"}));
  RunRecord made = one;
  made.mkfs.options = {"-m", "reflink=0"};
  EXPECT_EQ(names({one, made}), (Names{"xfs -L 'two words'", "xfs -m reflink=0"}));
  RunRecord more = one;
  more.processes = 4;
  EXPECT_EQ(names({one, more}), (Names{"xfs 1 process", "xfs 4 processes"}));
  RunRecord synced = one;
  synced.sync = "none";
  EXPECT_EQ(names({one, synced}), (Names{"xfs sync each", "xfs sync none"}));
  RunRecord warm = one;
  for (PassRecord& pass : warm.passes) {
    for (PhaseRecord& phase : pass.phases) phase.cache = {};
  }
  EXPECT_EQ(names({one, warm}), (Names{"xfs remount instead of drop", "xfs warm"}));
  RunRecord logged = one;
  logged.log = "night";
  EXPECT_EQ(names({one, logged}), (Names{"xfs logxfs", "xfs night"}));
  RunRecord later = one;
  later.run_id = "20261201T000000Z-000000";
  EXPECT_EQ(names({one, later}), (Names{"xfs 20261130T165001Z-1a2b3c", "xfs 20261201T000000Z-000000"}));
  EXPECT_EQ(names({one, one}), (Names{"xfs #1", "xfs #2"}));
  EXPECT_EQ(names({one, more, mounted}),
            (Names{"xfs noatime 1 process", "xfs noatime 4 processes", "xfs default mount 1 process"}));
}

}  // namespace
}  // namespace mongo
