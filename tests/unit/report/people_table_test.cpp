#include "harness/report/people_table.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "harness/report/percentile.h"
#include "tests/unit/report/samples.h"

namespace mongo {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) out.push_back(line);
  return out;
}

/// The words of the row of that phase; a mark is a word too.
std::vector<std::string> row(const std::string& text, const std::string& label) {
  for (const std::string& line : lines(text)) {
    if (!line.starts_with(label + " ")) continue;
    std::vector<std::string> words;
    std::istringstream stream(line);
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
  }
  return {};
}

using Words = std::vector<std::string>;

/// One pass with one phase, warm and without flags.
RunRecord one_phase() {
  RunRecord record = samples::full();
  record.passes.resize(1);
  record.passes[0].phases.resize(1);
  PhaseRecord& phase = record.passes[0].phases[0];
  phase.cache = {};
  phase.flags.clear();
  phase.seconds = 2;
  phase.operations = 1000;
  phase.bytes = 4 * 1048576;
  phase.device = {1, 1048576, 1, 2 * 1048576, 0};
  phase.device_sync = {1, 1048576 / 2, 1, 1048576, 0};
  return record;
}

PhaseRecord& phase_of(RunRecord& record) { return record.passes[0].phases[0]; }

TEST(Percentile, OverAllOperationsTogether) {
  LatencyRecord quick{"open", 900, 0, {}, {}, {}, {}, 10, {{10, 900}}};
  LatencyRecord slow{"write", 100, 0, {}, {}, {}, {}, 5000, {{10, 80}, {1024, 10}, {4096, 10}}};
  EXPECT_EQ(merged_percentile_ns({quick, slow}, 50), 10);
  EXPECT_EQ(merged_percentile_ns({quick, slow}, 98), 10);
  // Buckets are 8 wide from 1024 and 32 wide from 4096.
  EXPECT_EQ(merged_percentile_ns({quick, slow}, 99), (1024 + 1031) / 2.0);
  EXPECT_EQ(merged_percentile_ns({quick, slow}, 99.5), (4096 + 4127) / 2.0);
  EXPECT_EQ(merged_percentile_ns({quick, slow}, 99.9), (4096 + 4127) / 2.0);
  slow.max_ns = 4100;
  EXPECT_EQ(merged_percentile_ns({quick, slow}, 99.9), 4100);
}

TEST(Percentile, NullWhereTheCountDoesNotSupportIt) {
  EXPECT_EQ(merged_percentile_ns({}, 99), std::nullopt);
  EXPECT_EQ(merged_percentile_ns({{"open", 99, 0, {}, {}, {}, {}, 10, {{10, 99}}}}, 99), std::nullopt);
  EXPECT_EQ(merged_percentile_ns({{"open", 100, 0, {}, {}, {}, {}, 10, {{10, 100}}}}, 99), 10);
  EXPECT_EQ(merged_percentile_ns({{"open", 1000, 0, {}, {}, {}, {}, 10, {{10, 1000}}}}, 99.9), 10);
  // An operation without its histogram leaves nothing to be said of all of them.
  EXPECT_EQ(merged_percentile_ns(
                {{"open", 100, 0, {}, {}, {}, {}, 10, {{10, 100}}}, {"write", 100, 0, {}, {}, {}, {}, 10, {}}}, 99),
            std::nullopt);
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_TRUE(merged_percentile_ns({{"open", most, 0, {}, {}, {}, {}, most, {{most, most}, {1, most}}}}, 99));
}

TEST(PeopleTable, FiguresOfAPhase) {
  const std::string text = people_table(one_phase());
  EXPECT_EQ(row(text, "Create"), (Words{"Create", "2.000", "500", "2.0", "75.2", "8.99", "us", "1.5", "3.0"}));
  EXPECT_TRUE(contains(text, "Run 20261130T165001Z-1a2b3c: ok\n"));
  EXPECT_TRUE(contains(text,
                       "\nFiles of median size 100 bytes: xfs (xfs 6.1) on a loop device, 1 process, profile classic\n"
                       "fsync after each file; content compressible:50; content verified\n"));
  EXPECT_TRUE(contains(text, "\nall figures: loop-device: figures from a loop device are for trying out, not for"));
  EXPECT_TRUE(contains(text, "\nwarning: load of 2.30 before the start\n"));
  EXPECT_FALSE(contains(text, "flags"));
}

TEST(PeopleTable, WhatIsNotKnownIsNoNumber) {
  RunRecord record = one_phase();
  PhaseRecord& phase = phase_of(record);
  phase.bytes = 0;
  phase.latencies.clear();
  phase.cpu_percent = std::nullopt;
  phase.machine_cpu_percent = std::nullopt;
  phase.device = std::nullopt;
  EXPECT_EQ(row(people_table(record), "Create"), (Words{"Create", "2.000", "500", "-", "-", "-", "-", "-"}));
  phase.machine_cpu_percent = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(row(people_table(record), "Create")[4], "-");
}

TEST(PeopleTable, TheWorkersCpuWhereTheMachinesIsNotKnown) {
  RunRecord record = one_phase();
  phase_of(record).machine_cpu_percent = std::nullopt;
  const std::string text = people_table(record);
  EXPECT_EQ(row(text, "Create")[4], "65.5w");
  EXPECT_TRUE(contains(text, "w: of the worker"));
  EXPECT_FALSE(contains(people_table(one_phase()), "w: of the worker"));
}

TEST(PeopleTable, InAGuestTheCpuIsTheGuests) {
  RunRecord record = one_phase();
  EXPECT_TRUE(contains(people_table(record), "all of the machine, kernel threads included"));
  record.environment = "uml";
  EXPECT_FALSE(contains(people_table(record), "all of the machine"));
  EXPECT_TRUE(contains(people_table(record), "CPU %: all of the guest, which has one CPU."));
}

TEST(PeopleTable, ATimeOfZeroGivesNoRate) {
  RunRecord record = one_phase();
  phase_of(record).seconds = 0;
  const std::string text = people_table(record);
  const Words words = row(text, "Create");
  EXPECT_EQ((Words{words.begin(), words.begin() + 4}), (Words{"Create", "0.000000", "-", "-"}));
  for (const double tiny : {std::numeric_limits<double>::denorm_min(), 1e-12}) {
    phase_of(record).seconds = tiny;
    const std::string rates = people_table(record);
    EXPECT_FALSE(contains(rates, "inf"));
    EXPECT_FALSE(contains(rates, "nan"));
  }
  phase_of(record).seconds = 1e-6;
  EXPECT_EQ(row(people_table(record), "Create")[2], "1.00e+09");
}

TEST(PeopleTable, SmallAndLargeFiguresStayReadable) {
  RunRecord record = one_phase();
  PhaseRecord& phase = phase_of(record);
  phase.operations = 3;
  phase.bytes = 1;
  phase.machine_cpu_percent = 0;
  phase.device = {0, 0, 1, 512, 0};
  phase.device_sync = std::nullopt;
  phase.latencies = {{"write", 100, 0, {}, {}, {}, {}, 2'000'000'000, {{1'500'000'000, 100}}}};
  const Words words = row(people_table(record), "Create");
  EXPECT_EQ(words, (Words{"Create", "2.000", "1.5", "<0.1", "0.0", "1.50", "s", "0.0", "<0.1"}));
  phase.latencies[0].histogram = {{12'345'678, 100}};
  EXPECT_EQ(row(people_table(record), "Create")[5], "12.4");
  EXPECT_EQ(row(people_table(record), "Create")[6], "ms");
}

TEST(PeopleTable, APhaseThatFailedHasItsStatusAndItsReason) {
  RunRecord record = one_phase();
  PhaseRecord& phase = phase_of(record);
  phase.status = Status::failed;
  phase.reason = "EIO: 7 of 200 files";
  const std::string text = people_table(record);
  EXPECT_EQ(row(text, "Create"), (Words{"Create", "failed", "[1]", "-", "-", "-", "-", "-", "-"}));
  EXPECT_TRUE(contains(text, "\n[1] EIO: 7 of 200 files\n"));
}

TEST(PeopleTable, APhaseWithoutATimeHasItsReason) {
  RunRecord record = one_phase();
  phase_of(record).seconds = std::nullopt;
  phase_of(record).suspended_seconds = 90;
  const std::string text = people_table(record);
  const Words words = row(text, "Create");
  EXPECT_EQ((Words{words.begin(), words.begin() + 5}), (Words{"Create", "-", "[1]", "-", "-"}));
  EXPECT_TRUE(contains(text, "\n[1] create: its time is not known, the machine slept for 90.000 s\n"));
}

TEST(PeopleTable, FlagsAndCaches) {
  RunRecord record = one_phase();
  PhaseRecord& phase = phase_of(record);
  phase.cache = {"drop", "drop", "", 16, 0, 0.5};
  EXPECT_EQ(row(people_table(record), "Create").back(), "drop");
  EXPECT_TRUE(contains(people_table(record), "\ncaches: drop; fsync"));
  phase.flags = {"low-overlap", "cache-fallback"};
  phase.cache = {"drop", "warm", "EPERM", std::nullopt, std::nullopt, 0};
  const std::string text = people_table(record);
  EXPECT_TRUE(contains(text, "low-overlap, warm [1]\n"));
  EXPECT_TRUE(contains(text, "\n[1] caches: warm instead of drop (EPERM)\n"));
  EXPECT_TRUE(contains(text, "\nlow-overlap: the processes worked"));
}

TEST(PeopleTable, ColumnsAreAligned) {
  const std::string text = people_table(samples::full());
  std::size_t heading = 0;
  std::vector<std::size_t> ends;
  std::size_t rows = 0;
  for (const std::string& line : lines(text)) {
    if (line.starts_with("phase ")) {
      ++heading;
      ends.clear();
      for (const char* name : {" seconds", " files/s", " MiB/s", " CPU", " p99", " read", " written"}) {
        ends.push_back(line.find(name) + std::string(name).size());
      }
    } else if (heading > rows / 7 && (line.starts_with("Create") || (!ends.empty() && rows % 7 != 0))) {
      ++rows;
      for (const std::size_t end : ends) {
        EXPECT_NE(line[end - 1], ' ') << line;
        EXPECT_EQ(line[end], ' ') << line;
      }
    }
  }
  EXPECT_EQ(heading, 2U);
  EXPECT_EQ(rows, 14U);
}

TEST(PeopleTable, NarrowAsciiWithoutTabs) {
  RunRecord long_flags = samples::full();
  long_flags.passes[0].phases[0].flags = {"low-overlap", "too-short", "another", std::string(200, 'x'), "last"};
  long_flags.passes[0].phases[1].status = Status::interrupted;
  long_flags.passes[0].phases[1].reason = std::string(300, 'y');
  for (const RunRecord& record : {samples::full(), samples::out_of_inodes(), samples::interrupted(),
                                  samples::unsupported(), samples::minimal(), samples::hostile(), long_flags}) {
    const std::string text = people_table(record);
    EXPECT_EQ(text.back(), '\n');
    for (const std::string& line : lines(text)) {
      EXPECT_LE(line.size(), people_table_width) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
      for (const char c : line) EXPECT_TRUE(c >= 0x20 && c < 0x7f);
    }
  }
}

TEST(PeopleTable, ARunWithoutPasses) {
  EXPECT_EQ(people_table(samples::unsupported()),
            "Run 20261130T165001Z-1a2b3c: unsupported: mkreiserfs is not installed\nno phase was run on reiserfs\n");
  RunRecord record = samples::full();
  record.passes[0].phases.clear();
  EXPECT_TRUE(contains(people_table(record), "no phase was run\n"));
}

}  // namespace
}  // namespace mongo
