#include "harness/run/phase_result.h"

#include <gtest/gtest.h>

#include <cmath>

#include "phases/catalogue.h"

namespace mongo {
namespace {

RepetitionResult repetition(double seconds, std::uint64_t files, std::vector<ErrorRecord> errors = {}) {
  RepetitionResult result;
  result.seconds = seconds;
  result.files = files;
  result.errors = std::move(errors);
  return result;
}

const phases::Phase& create() { return *phases::find("create"); }

TEST(JudgePhase, TimeIsTheSumOfTheRepetitions) {
  const PhaseRecord record = judge_phase(create(), 200, {repetition(1.5, 100), repetition(0.5, 100)}, {}, "");
  EXPECT_EQ(record.status, Status::ok);
  EXPECT_EQ(record.seconds, 2.0);
  EXPECT_EQ(record.repetition_seconds, (std::vector<double>{1.5, 0.5}));
  EXPECT_EQ(record.operations, 200U);
  EXPECT_EQ(record.reason, "");
}

TEST(JudgePhase, WhatWasNotBegunWasNotMeasured) {
  for (const auto& repetitions : {std::vector<RepetitionResult>{}, {repetition(0, 0)}}) {
    const PhaseRecord record = judge_phase(create(), 200, repetitions, {}, "");
    EXPECT_TRUE(std::isnan(record.cpu_user_seconds));
    EXPECT_TRUE(std::isnan(record.cpu_system_seconds));
    EXPECT_TRUE(std::isnan(record.start_skew_seconds));
  }
  EXPECT_EQ(judge_phase(create(), 200, {repetition(1, 0)}, {}, "").cpu_user_seconds, 0);
}

TEST(JudgePhase, NoInodesLeft) {
  Space full;
  full.inodes = 64;
  full.free_inodes = 0;
  const PhaseRecord record =
      judge_phase(create(), 200, {repetition(0.1, 53, {{"create", 28, "ENOSPC", 147, "testdir1-1-1/54"}})}, full, "");
  EXPECT_EQ(record.status, Status::incomplete);
  EXPECT_EQ(record.reason, "ENOSPC: no inodes left, 53 of 200 files");
  EXPECT_FALSE(record.seconds.has_value());
  EXPECT_TRUE(record.repetition_seconds.empty());
  EXPECT_EQ(record.elapsed_seconds, 0.1);
  ASSERT_EQ(record.errors.size(), 1U);
  EXPECT_EQ(record.errors[0].count, 147U);
}

TEST(JudgePhase, NoBlocksLeft) {
  Space full;
  full.inodes = 64;
  full.free_inodes = 10;
  const PhaseRecord record =
      judge_phase(create(), 200, {repetition(0.1, 53, {{"write", 28, "ENOSPC", 1, "x"}})}, full, "");
  EXPECT_EQ(record.reason, "ENOSPC: no space left, 53 of 200 files");
}

TEST(JudgePhase, AnotherErrorWeighsMoreThanAFullDisk) {
  const PhaseRecord record = judge_phase(
      create(), 200,
      {repetition(0.1, 50, {{"write", 28, "ENOSPC", 100, "x"}}), repetition(0.1, 50, {{"write", 5, "EIO", 1, "d0/7"}})},
      {}, "");
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_EQ(record.reason, "EIO: Input/output error, 100 of 200 files; first at d0/7 (write)");
  EXPECT_EQ(record.errors.size(), 2U);
}

TEST(JudgePhase, FewerFilesThanPlannedIsNoTime) {
  const PhaseRecord after_trouble = judge_phase(*phases::find("read"), 200, {repetition(0.1, 53)}, {}, "create");
  EXPECT_EQ(after_trouble.status, Status::incomplete);
  EXPECT_EQ(after_trouble.reason, "53 of 200 files: create did not succeed before it");
  EXPECT_FALSE(after_trouble.seconds.has_value());
  const PhaseRecord unexplained = judge_phase(*phases::find("read"), 200, {repetition(0.1, 53)}, {}, "");
  EXPECT_EQ(unexplained.status, Status::failed);
  EXPECT_EQ(unexplained.reason, "found 53 of 200 files");
  EXPECT_EQ(judge_phase(*phases::find("read"), 200, {repetition(0.1, 201)}, {}, "create").status, Status::failed);
}

TEST(JudgePhase, WhatFollowsFromAFullDiskIsNoFailureOfItsOwn) {
  // Create never came to the second tree, so copy does not find it.
  const PhaseRecord copy = judge_phase(
      *phases::find("copy"), 200,
      {repetition(0.1, 0, {{"open", 2, "ENOENT", 5, "testdir1-2-1"}, {"create", 28, "ENOSPC", 1, "testdir2-1-1/1"}})},
      {}, "create");
  EXPECT_EQ(copy.status, Status::incomplete);
  EXPECT_EQ(copy.reason, "ENOSPC: no space left, 0 of 200 files");
  const PhaseRecord rename = judge_phase(
      *phases::find("rename"), 200, {repetition(0.1, 53, {{"open", 2, "ENOENT", 1, "testdir1-2-1"}})}, {}, "create");
  EXPECT_EQ(rename.status, Status::incomplete);
  EXPECT_EQ(rename.reason, "53 of 200 files: create did not succeed before it");
  const PhaseRecord unlink = judge_phase(
      *phases::find("delete"), 200,
      {repetition(0.1, 150, {{"unlink", 28, "ENOSPC", 50, "x"}, {"rmdir", 39, "ENOTEMPTY", 60, "d0"}})}, {}, "");
  EXPECT_EQ(unlink.status, Status::incomplete);
  // Without an earlier trouble a missing tree is a failure.
  EXPECT_EQ(
      judge_phase(*phases::find("copy"), 200, {repetition(0.1, 0, {{"open", 2, "ENOENT", 1, "t"}})}, {}, "").status,
      Status::failed);
}

TEST(JudgePhase, ADeadProcessFails) {
  RepetitionResult dead = repetition(0.1, 3);
  dead.failure = "process 77 was killed by signal 9 (Killed)";
  const PhaseRecord record = judge_phase(create(), 200, {dead}, {}, "");
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_EQ(record.reason, "process 77 was killed by signal 9 (Killed), 3 of 200 files");
}

TEST(JudgeRun, TheWorstPhaseDecides) {
  RunRecord record;
  record.passes.resize(1);
  PassRecord& pass = record.passes[0];
  pass.median_file_size_bytes = 100;
  pass.phases.resize(2);
  pass.phases[0].name = "create";
  judge_run(record);
  EXPECT_EQ(record.status, Status::ok);
  pass.phases[1].name = "copy";
  pass.phases[1].status = Status::incomplete;
  pass.phases[1].reason = "full";
  judge_run(record);
  EXPECT_EQ(record.status, Status::incomplete);
  EXPECT_EQ(record.reason, "copy at 100 bytes: full");
  pass.phases[0].status = Status::failed;
  pass.phases[0].reason = "EIO";
  record.reason.clear();
  judge_run(record);
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_EQ(record.reason, "create at 100 bytes: EIO (and 1 more)");
  record.status = Status::interrupted;
  judge_run(record);
  EXPECT_EQ(record.status, Status::interrupted) << "what ended the run is not replaced";
}

TEST(JudgePhase, ACauseWeighsMoreThanItsConsequence) {
  const PhaseRecord record = judge_phase(
      create(), 39, {repetition(0.1, 39, {{"rmdir", 39, "ENOTEMPTY", 1, "d0"}, {"rmdir", 5, "EIO", 1, "d0/d1"}})}, {},
      "");
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_EQ(record.reason, "EIO: Input/output error, 39 of 39 files; first at d0/d1 (rmdir)");
}

TEST(JudgePhase, CutFilesAreNotReadForATime) {
  const PhaseRecord read = judge_phase(*phases::find("read"), 100, {repetition(0.1, 100)}, {}, "create");
  EXPECT_EQ(read.status, Status::incomplete);
  EXPECT_FALSE(read.seconds);
  EXPECT_EQ(read.reason, "100 of 100 files: create did not succeed before it");
  const PhaseRecord stat = judge_phase(*phases::find("stat"), 100, {repetition(0.1, 100)}, {}, "symlink");
  EXPECT_EQ(stat.status, Status::ok) << "links that are missing are none of its files";
}

TEST(JudgePhase, AFailedSyncHasNoPath) {
  const PhaseRecord record = judge_phase(create(), 10, {repetition(0.1, 10, {{"sync", 5, "EIO", 1, ""}})}, {}, "");
  EXPECT_EQ(record.reason, "EIO: Input/output error, 10 of 10 files");
}

PhaseRecord good_phase() { return judge_phase(create(), 200, {repetition(1.5, 100), repetition(0.5, 100)}, {}, ""); }

TEST(JudgeConditions, PercentOfTheTime) {
  PhaseRecord record = good_phase();
  record.cpu_user_seconds = 0.5;
  record.cpu_system_seconds = 1;
  record.machine_cpu_seconds = 3;
  judge_conditions(record, 30);
  EXPECT_EQ(record.cpu_percent, 75);
  EXPECT_EQ(record.machine_cpu_percent, 150);
  EXPECT_TRUE(record.flags.empty());
}

TEST(JudgeConditions, AMachineThatSleptHasMeasuredNothing) {
  PhaseRecord record = good_phase();
  record.suspended_seconds = 5.25;
  judge_conditions(record, 30);
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_EQ(record.reason, "the machine was suspended for 5.250 s during the phase");
  EXPECT_FALSE(record.seconds);
  EXPECT_TRUE(record.repetition_seconds.empty());
  EXPECT_FALSE(record.cpu_percent);
}

TEST(JudgeConditions, TooShortForTheClock) {
  PhaseRecord record = judge_phase(create(), 200, {repetition(1.5, 100), repetition(0.09, 100)}, {}, "");
  judge_conditions(record, 1'000'000);
  EXPECT_EQ(record.flags, std::vector<std::string>{"too-short"});
  PhaseRecord none = judge_phase(create(), 200, {repetition(0, 200)}, {}, "");
  judge_conditions(none, 1);
  EXPECT_EQ(none.flags, std::vector<std::string>{"too-short"});
  EXPECT_FALSE(none.cpu_percent) << "nothing is divided by 0";
  PhaseRecord unknown = good_phase();
  judge_conditions(unknown, std::nullopt);
  EXPECT_TRUE(unknown.flags.empty());
}

TEST(JudgeConditions, CachesThatAreNotWhatWasAskedFor) {
  PhaseRecord record = good_phase();
  record.cache = {"drop", "warm", "drop_caches: EACCES; not verified: x", 16, 4096, 0.1};
  judge_conditions(record, 30);
  EXPECT_EQ(record.flags, (std::vector<std::string>{"cache-fallback", "cache-not-empty", "cache-not-verified"}));
  EXPECT_TRUE(record.seconds);
}

TEST(JudgeVerification, ADifferenceFailsThePhase) {
  PhaseRecord record = good_phase();
  judge_verification(record, {repetition(9, 100), repetition(9, 100)});
  EXPECT_EQ(record.status, Status::ok);
  EXPECT_EQ(record.verified_files, 200U);
  EXPECT_EQ(record.seconds, 2.0) << "verification is outside the time";
  judge_verification(record, {repetition(9, 199, {{"verify", 0, "MISMATCH", 1, "testdir1-1-1/7 at byte 4096"}})});
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_EQ(record.reason, "verification: MISMATCH: testdir1-1-1/7 at byte 4096; 199 files are right");
  EXPECT_FALSE(record.seconds);
  EXPECT_EQ(record.errors.size(), 1U);
}

TEST(JudgeVerification, NothingComparedIsNoSuccess) {
  PhaseRecord record = good_phase();
  judge_verification(record, {repetition(0, 0)});
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_EQ(record.reason, "verification: there was nothing to compare");
}

TEST(MergeErrors, SumsByOperationAndErrno) {
  std::vector<ErrorRecord> errors{{"write", 28, "ENOSPC", 2, "a"}};
  merge_errors(errors, {{"write", 28, "ENOSPC", 3, "b"}, {"create", 28, "ENOSPC", 1, "c"}});
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors[0].count, 5U);
  EXPECT_EQ(errors[0].first_path, "a");
}

}  // namespace
}  // namespace mongo
