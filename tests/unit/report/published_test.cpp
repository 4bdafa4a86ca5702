#include "harness/report/published.h"

#include <gtest/gtest.h>

#include <array>

#include "harness/core/errors.h"
#include "harness/report/compare.h"
#include "harness/report/record_json.h"
#include "tests/unit/report/samples.h"
#include "tests/unit/report/schema.h"

namespace mongo {
namespace {

using samples::contains;
using samples::plain;
using samples::row;

std::string reference_file(const std::string& filesystem) {
  return std::string(MONGO_SOURCE_DIR) + "/results/reference/mongo-2001-" + filesystem + ".jsonl";
}

std::vector<RunRecord> reference() {
  std::vector<RunRecord> records;
  for (const char* filesystem : {"ext3", "reiserfs", "xfs"}) {
    const RecordFile file = read_records(reference_file(filesystem));
    EXPECT_EQ(file.records.size(), 1U);
    EXPECT_TRUE(file.warnings.empty());
    records.push_back(file.records.at(0));
  }
  return records;
}

struct PrintedTable {
  const char* filesystem;
  std::uint64_t size, files, directories;
  double create_fragments, copy_fragments;
  std::array<double, 7> seconds;  // in the order of the phases; 0 where 0 was printed
};

// As printed around 2001.
constexpr PrintedTable printed[] = {
    {"ext3", 100, 68952, 242, 1.32, 1.32, {90.07, 239.02, 0, 782.75, 108.65, 67.26, 23.80}},
    {"xfs", 100, 68952, 241, 1.02, 1.03, {267.86, 744.51, 203.54, 1543.93, 262.25, 205.18, 389.79}},
    {"reiserfs", 100, 68952, 241, 1.00, 1.80, {53.05, 126.97, 105.71, 562.53, 225.32, 70.72, 85.51}},
    {"ext3", 1000, 11248, 44, 1.38, 1.38, {30.68, 75.21, 16.68, 225.74, 25.60, 16.11, 6.04}},
    {"xfs", 1000, 11616, 43, 1.01, 1.01, {57.94, 149.49, 29.59, 348.99, 46.41, 33.57, 64.90}},
    {"reiserfs", 1000, 11616, 43, 1.03, 1.43, {36.38, 84.02, 19.29, 409.45, 89.23, 20.69, 18.21}},
    {"ext3", 10000, 2274, 32, 1.44, 1.44, {27.13, 55.27, 1.33, 40.51, 2.34, 0.99, 3.40}},
    {"xfs", 10000, 2292, 31, 1.02, 1.02, {25.99, 55.73, 2.51, 50.20, 1.99, 1.10, 8.99}},
    {"reiserfs", 10000, 2292, 31, 1.05, 1.12, {22.27, 43.24, 1.43, 56.34, 3.52, 1.25, 1.84}},
};

TEST(Reference, HoldsTheFiguresAsPrinted) {
  for (const PrintedTable& table : printed) {
    SCOPED_TRACE(testing::Message() << table.filesystem << " " << table.size);
    const RunRecord record = read_records(reference_file(table.filesystem)).records.at(0);
    EXPECT_EQ(record.filesystem, table.filesystem);
    ASSERT_EQ(record.passes.size(), 3U);
    const auto pass = std::find_if(record.passes.begin(), record.passes.end(),
                                   [&](const PassRecord& p) { return p.median_file_size_bytes == table.size; });
    ASSERT_NE(pass, record.passes.end());
    EXPECT_EQ(pass->files, table.files);
    EXPECT_EQ(pass->directories, table.directories);
    ASSERT_EQ(pass->phases.size(), table.seconds.size());
    for (std::size_t i = 0; i < pass->phases.size(); ++i) {
      const PhaseRecord& phase = pass->phases[i];
      const bool is_time = table.seconds[i] != 0;
      EXPECT_EQ(phase.seconds, is_time ? std::optional<double>(table.seconds[i]) : std::nullopt) << phase.name;
      EXPECT_EQ(phase.status, is_time ? Status::ok : Status::incomplete) << phase.name;
      EXPECT_EQ(phase.reason.empty(), is_time) << phase.name;
      EXPECT_EQ(phase.operations, is_time ? table.files : 0) << phase.name;
      EXPECT_TRUE(phase.repetition_seconds.empty());
    }
    EXPECT_EQ(pass->phases[0].fragmentation->above_threshold.ratio, table.create_fragments);
    EXPECT_EQ(pass->phases[1].fragmentation->above_threshold.ratio, table.copy_fragments);
  }
}

TEST(Reference, AgreesWithTheSchemaAndSaysWhatItIs) {
  const auto schema =
      schema::Json::parse(samples::read_file(std::string(MONGO_SOURCE_DIR) + "/configs/record.schema.json"));
  for (const RunRecord& record : reference()) {
    const std::string text = samples::read_file(reference_file(record.filesystem));
    EXPECT_EQ(schema::validate(schema, schema::Json::parse(text)), std::vector<std::string>{});
    EXPECT_EQ(to_json_line(record) + "\n", text);
    EXPECT_EQ(record.status, record.filesystem == "ext3" ? Status::incomplete : Status::ok);
    EXPECT_EQ(record.profile, "classic");
    EXPECT_EQ(record.processes, 1);
    EXPECT_EQ(record.mongo_version + record.host.name + record.device.given + record.started_at, "");
    EXPECT_FALSE(record.notes.empty());
  }
}

TEST(Reference, CanBeComparedByItself) {
  const std::string text = side_by_side(reference());
  EXPECT_FALSE(contains(text, "warning"));
  EXPECT_TRUE(contains(text, "\nCreate    90.070      53.050*     267.860\n")) << text;
  EXPECT_TRUE(contains(text, "for 11248 files; others: 11616"));
  samples::expect_file("reference.txt", text);
}

TEST(Published, RatiosSideBySide) {
  RunRecord ext3 = plain("ext3");
  for (PassRecord& pass : ext3.passes) {
    for (PhaseRecord& phase : pass.phases) *phase.seconds *= 0.5;
  }
  ext3.passes[0].directories = 242;
  const std::string text = beside_published({plain(), ext3, plain("btrfs")}, reference());
  EXPECT_FALSE(contains(text, "warning"));
  EXPECT_FALSE(contains(text, "*"));
  EXPECT_FALSE(contains(text, "  df"));
  EXPECT_TRUE(contains(text,
                       "Times of 2001 and of today have nothing to do with each other; the ratios between file\n"
                       "systems do.\n"));
  // xfs measured, published; ext3 measured, published; btrfs measured; reiserfs published.
  EXPECT_EQ(row(text, "Create"), "Create       1.00      1.00     0.50   0.34         1.00      0.20");
  samples::expect_file("published.txt", text);
}

TEST(Published, WhatThePublishedTablesLackHasItsReason) {
  const std::string text = beside_published({plain("ext3"), plain()}, reference());
  EXPECT_EQ(row(text, "Slinks"), "Slinks       1.00     - [1]     1.00     - [2]     - [2]") << text;
  EXPECT_TRUE(contains(text,
                       "\n[1] symlink incomplete: 0 was printed, which is no time\n"
                       "[2] ext3 published has no time here to divide by\n"));
  EXPECT_TRUE(contains(text, "a time for 11616 files, divided by one for 11248\n"));
  EXPECT_TRUE(contains(text, "ext3 published: 100 bytes: Slinks was printed as 0, which is no time\n"));
}

TEST(Published, SeveralRunsOfAFileSystemShareItsPublishedFigures) {
  RunRecord noatime = plain();
  noatime.mount.requested = "noatime,logbsize=256k";
  RunRecord defaults = plain();
  defaults.mount.requested = "";
  const std::string text = beside_published({noatime, defaults}, reference());
  EXPECT_EQ(row(text, "Create"), "Create            1.00          1.00      1.00   0.34          0.20") << text;
}

TEST(Published, OtherWorkIsWarnedAbout) {
  RunRecord run = plain();
  run.profile = "ltp";
  run.processes = 4;
  RunRecord ext3 = plain("ext3");
  const std::string text = beside_published({run, ext3}, reference());
  EXPECT_TRUE(contains(text, "warning: profiles differ (xfs: ltp; ext3: classic); the figures are not comparable\n"));
  EXPECT_TRUE(
      contains(text,
               "\nwarning: xfs: profile ltp, published: classic; 4 processes, published: 1; the ratios are not\n"
               "    comparable with the published ones\n"))
      << text;
  EXPECT_FALSE(contains(text, "warning: ext3:"));
}

TEST(Published, NeedsTheFirstRunsFileSystemOnce) {
  std::vector<RunRecord> published = reference();
  EXPECT_THROW(beside_published({plain("btrfs"), plain()}, published), UsageError);
  EXPECT_THROW(beside_published({plain()}, {}), UsageError);
  published.push_back(published[0]);
  EXPECT_THROW(beside_published({plain()}, published), UsageError);
  EXPECT_EQ(beside_published({}, reference()), "There are no runs to compare.\n");
}

TEST(Published, AsciiOnlyAndNoForgedLines) {
  RunRecord hostile = samples::hostile();
  RunRecord published = samples::hostile();
  const std::string text = beside_published({hostile, hostile}, {published});
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f));
  EXPECT_FALSE(contains(text, "\nFragm. : 1.000"));
}

}  // namespace
}  // namespace mongo
