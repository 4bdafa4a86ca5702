#include <gtest/gtest.h>

#include "harness/report/compare.h"
#include "harness/report/text.h"
#include "tests/unit/report/samples.h"

namespace mongo {
namespace {

using samples::contains;
using samples::plain;

std::string ratios(const std::vector<RunRecord>& runs) { return side_by_side(runs, CompareFigures::ratios); }

/// The row of that label in the first table, with single blanks.
std::string row(const std::string& text, const std::string& label) {
  std::string out;
  for (const char c : samples::row(text, label)) {
    if (c != ' ' || !out.ends_with(' ')) out += c;
  }
  return out;
}

/// An ext4 run with the figures of the xfs sample.
RunRecord other() { return plain("ext4"); }

PhaseRecord& phase(RunRecord& run, std::size_t number) { return run.passes[0].phases[number]; }

TEST(Ratios, AreToTheFirstRun) {
  RunRecord ext4 = other();
  phase(ext4, 0).seconds = 2.64;
  phase(ext4, 1).seconds = 0.134;
  phase(ext4, 1).used_kib = 97062;
  phase(ext4, 2).seconds = 0.0000001;
  const std::string text = ratios({plain(), ext4});
  EXPECT_TRUE(text.starts_with("Times and df as ratios to those of the first run, xfs: 2.00 is twice its time"));
  EXPECT_FALSE(contains(text, "Times in seconds"));
  EXPECT_FALSE(contains(text, "["));
  EXPECT_EQ(row(text, "files"), "files 68952 68952");
  EXPECT_EQ(row(text, "Create"), "Create 1.00* 2.00");
  EXPECT_EQ(row(text, "  Fragm."), " Fragm. 1.000 1.000");
  EXPECT_EQ(row(text, "  df"), " df 1.00 1.00");
  EXPECT_EQ(row(text, "Copy"), "Copy 1.00 0.0500*");
  EXPECT_TRUE(contains(text, "\n  Fragm.   1.031    1.031\n  df        1.00     0.50\n")) << text;
  EXPECT_EQ(row(text, "Slinks"), "Slinks 1.00 4.0e-08*");
  samples::expect_file("ratios_two.txt", text);
}

TEST(Ratios, OfOneRunAreOne) {
  const std::string text = ratios({plain()});
  EXPECT_EQ(row(text, "Create"), "Create 1.00");
  EXPECT_EQ(row(text, "Delete"), "Delete 1.00");
  EXPECT_FALSE(contains(text, "*"));
  EXPECT_EQ(ratios({}), "There are no runs to compare.\n");
}

TEST(Ratios, WhatCannotBeDividedHasItsReason) {
  RunRecord first = plain();
  RunRecord ext4 = other();
  phase(first, 0).status = Status::incomplete;
  phase(first, 0).reason = "ENOSPC: no inodes left, 53 of 200 files";
  phase(first, 1).used_kib = std::nullopt;
  phase(ext4, 1).seconds = std::nullopt;
  phase(first, 2).seconds = 0;
  phase(ext4, 3).seconds = 0;
  first.passes.resize(1);
  const std::string text = ratios({first, ext4});
  EXPECT_EQ(row(text, "Create"), "Create - [1] - [2]");
  EXPECT_EQ(row(text, "Copy"), "Copy 1.00 - [4]");
  EXPECT_EQ(row(text, "Slinks"), "Slinks - [6] - [6]");
  EXPECT_EQ(row(text, "Read"), "Read 1.00 - [7]");
  EXPECT_TRUE(contains(text,
                       "\n[1] create incomplete: ENOSPC: no inodes left, 53 of 200 files\n"
                       "[2] xfs has no time here to divide by\n"
                       "[3] xfs has no used space here to divide by\n"
                       "[4] copy: its time is not known\n"
                       "[5] used space was not measured\n"))
      << text;
  EXPECT_TRUE(contains(text, "the time of xfs is 0: nothing to divide by\n"));
  EXPECT_TRUE(contains(text, "the time is 0: no ratio\n"));
  // A size that the first run does not have.
  EXPECT_TRUE(contains(text, "\nFiles of median size 1000 bytes\n"));
  EXPECT_TRUE(contains(text, "[1] this size was not run\n[2] xfs has no time here to divide by\n"));
}

TEST(Ratios, OfOtherNumbersOfFilesAreMarkedWhereTheyStand) {
  RunRecord first = plain();
  first.passes.resize(1);
  phase(first, 0).operations = 30000;
  RunRecord ext4 = other();
  ext4.passes.resize(1);
  const std::string text = ratios({first, ext4});
  EXPECT_EQ(row(text, "Create"), "Create 1.00 1.00 [1]");
  EXPECT_TRUE(contains(text, "\n[1] a time for 34476 files, divided by one for 30000\n"));
}

TEST(Ratios, KeepFlagsAndWarnings) {
  RunRecord ext4 = other();
  ext4.profile = "ltp";
  phase(ext4, 4).flags = {"too-short"};
  const std::string text = ratios({plain(), ext4});
  EXPECT_TRUE(text.starts_with("warning: profiles differ (xfs: classic; ext4: ltp)"));
  EXPECT_EQ(row(text, "Stats"), "Stats 1.00 1.00 [1]");
  EXPECT_TRUE(contains(text, "\n[1] too-short: "));
}

TEST(Text, MultiplesAreNeverPrintedAsZero) {
  EXPECT_EQ(format_multiple(std::nullopt), "-");
  EXPECT_EQ(format_multiple(-1), "-");
  EXPECT_EQ(format_multiple(1), "1.00");
  EXPECT_EQ(format_multiple(12345.678), "12345.68");
  EXPECT_EQ(format_multiple(0.1), "0.10");
  EXPECT_EQ(format_multiple(0.0123), "0.0123");
  EXPECT_EQ(format_multiple(0.000123), "0.000123");
  EXPECT_EQ(format_multiple(0.00000012), "1.2e-07");
}

}  // namespace
}  // namespace mongo
