#include "harness/report/compare.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "harness/report/column_names.h"
#include "tests/unit/report/samples.h"

namespace mongo {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

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
  return record;
}

void expect_file(const std::string& name, const std::string& text) {
  const auto path = samples::expected_folder() / name;
  if (samples::write_expected()) std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(text, samples::read_file(path));
}

TEST(Compare, SideBySide) {
  RunRecord ext4 = beside_full(samples::full());
  ext4.filesystem = "ext4";
  ext4.passes[0].phases[0].seconds = 90.07;
  ext4.passes[0].directories = 242;
  const std::string text = side_by_side({samples::full(), ext4});
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

TEST(Compare, DifferencesAreNamed) {
  RunRecord other = samples::full();
  other.filesystem = "ext4";
  other.processes = 4;
  other.repetitions = 1;
  other.profile = "big";
  other.device.size_bytes = 1;
  other.host.name = "elsewhere";
  const std::string text = side_by_side({samples::full(), other});
  EXPECT_TRUE(contains(text, "warning: profiles differ (xfs: classic; ext4: big); the figures are not comparable\n"));
  EXPECT_TRUE(contains(text, "warning: processes differ (xfs: 1; ext4: 4); the figures are not comparable\n"));
  EXPECT_TRUE(contains(text, "warning: repetitions differ (xfs: 3; ext4: 1); the figures are not comparable\n"));
  EXPECT_TRUE(contains(text, "warning: hosts differ (xfs: bench; ext4: elsewhere)"));
  EXPECT_TRUE(contains(text, "warning: devices differ (xfs: loop Disk 9000 S1234 2147483648 bytes; ext4: loop"));
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
