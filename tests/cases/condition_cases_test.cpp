// Field cases about the conditions of a number: caches, syncs, contents, clocks, limits of the caller; on every file
// system that the machine has.
#include <regex>

#include "tests/cases/mongo_fixture.h"

namespace mongo {
namespace {

using test::Json;

struct Kind {
  const char* filesystem;
  const char* device;
};
constexpr Kind kinds[] = {{"ext2", "loop:256MiB"},
                          {"ext3", "loop:256MiB"},
                          {"ext4", "loop:256MiB"},
                          {"xfs", "loop:320MiB"},
                          {"btrfs", "loop:512MiB"}};

bool has_flag(const Json& phase, const std::string& flag) {
  for (const Json& one : phase.at("flags")) {
    if (one == flag) return true;
  }
  return false;
}

class ConditionCases : public test::MongoTest, public testing::WithParamInterface<Kind> {
 protected:
  Json good_run(const Arguments& more, const std::string& processes = "1") {
    Arguments all{"--profile", "smoke"};
    all.insert(all.end(), more.begin(), more.end());
    const CommandResult result = mongo_run(GetParam().filesystem, GetParam().device, all, processes);
    EXPECT_EQ(result.exit_status, 0) << result.err;
    expect_nothing_left();
    return last_record();
  }
};

INSTANTIATE_TEST_SUITE_P(EveryFileSystem, ConditionCases, testing::ValuesIn(kinds),
                         [](const auto& kind) { return std::string(kind.param.filesystem); });

/// After drop and remount all that is read comes from the device; with warm caches almost nothing does.
TEST_P(ConditionCases, ColdReadsComeFromTheDevice) {
  for (const char* policy : {"drop", "remount", "warm"}) {
    const Json read = phase(good_run({"--phases", "create,read", "--cache", std::string("read=") + policy}), "read");
    const double from_device = read.at("device").at("read_bytes").get<double>() / read.at("bytes").get<double>();
    EXPECT_EQ(read.at("cache").at("requested"), policy);
    EXPECT_EQ(read.at("cache").at("state"), policy) << read.at("cache");
    if (std::string(policy) == "warm") {
      EXPECT_LT(from_device, 0.05);
      EXPECT_EQ(read.at("cache").at("sampled_files"), nullptr);
      continue;
    }
    EXPECT_GE(from_device, 0.95) << policy;
    EXPECT_GE(read.at("cache").at("sampled_files"), 8);
    EXPECT_EQ(read.at("cache").at("resident_bytes"), 0);
    EXPECT_EQ(read.at("cache").at("reason"), nullptr);
    EXPECT_TRUE(read.at("flags").empty() || !has_flag(read, "cache-fallback")) << read.at("flags");
  }
}

/// Each repetition reads the whole file system: without a new start the second one would find the first one's pages.
TEST_P(ConditionCases, EachRepetitionIsCold) {
  const Json record = good_run({"--phases", "create,read", "--cache", "remount", "--repetitions", "2"});
  const Json read = phase(record, "read");
  EXPECT_GE(read.at("device").at("read_bytes").get<double>(), 0.95 * read.at("bytes").get<double>());
  EXPECT_EQ(read.at("repetition_seconds").size(), 2U);
}

/// drop_caches that cannot be written, as in most containers.
TEST_P(ConditionCases, DropRefusedFallsBackToRemount) {
  const std::string file = "/proc/sys/vm/drop_caches";
  const std::string script =
      "mount --bind " + file + " " + file + " && mount -o remount,bind,ro " + file + " && exec \"$@\"";
  const CommandResult result = test::run({"unshare",
                                          "--mount",
                                          "sh",
                                          "-c",
                                          script,
                                          "sh",
                                          MONGO_PROGRAM,
                                          "run",
                                          GetParam().filesystem,
                                          GetParam().device,
                                          point(),
                                          "log",
                                          "1",
                                          "--results",
                                          results(),
                                          "--profile",
                                          "smoke",
                                          "--phases",
                                          "create,read",
                                          "--cache",
                                          "read=drop"});
  if (result.err.find("unshare: ") == 0) GTEST_SKIP() << "in a chroot there is no mount namespace: " << result.err;
  ASSERT_EQ(result.exit_status, 0) << result.err;
  const Json read = phase(last_record(), "read");
  EXPECT_EQ(read.at("cache").at("requested"), "drop");
  EXPECT_EQ(read.at("cache").at("state"), "remount");
  EXPECT_NE(read.at("cache").at("reason").get<std::string>().find("drop_caches: "), std::string::npos);
  EXPECT_TRUE(has_flag(read, "cache-fallback"));
  EXPECT_GE(read.at("device").at("read_bytes").get<double>(), 0.95 * read.at("bytes").get<double>());
  for (const char* name : {"log", "log_table"}) {
    const std::string text = slurp(results() + "/" + name);
    EXPECT_NE(text.find("remount"), std::string::npos) << name << ":\n" << text;
    EXPECT_NE(text.find("drop_caches: "), std::string::npos) << name << ":\n" << text;
  }
  expect_nothing_left();
}

TEST_P(ConditionCases, SyncPolicies) {
  Json record = good_run({"--phases", "create,read", "--sync", "each"});
  EXPECT_EQ(record.at("sync"), "each");
  Json create = phase(record, "create");
  std::uint64_t fsyncs = 0;
  for (const Json& latency : create.at("latencies")) {
    if (latency.at("operation") == "fsync") fsyncs = latency.at("count");
  }
  EXPECT_EQ(fsyncs, create.at("operations"));
  // What fsync has brought there need not be written once more.
  EXPECT_GE(create.at("device").at("written_bytes"), create.at("bytes"));

  record = good_run({"--phases", "create,read", "--sync", "none"});
  create = phase(record, "create");
  EXPECT_EQ(create.at("sync_seconds"), nullptr);
  EXPECT_EQ(create.at("device_sync"), nullptr);
  EXPECT_EQ(create.at("write_amplification"), nullptr);
  EXPECT_EQ(create.at("used_kib"), nullptr);
  EXPECT_EQ(create.at("fragmentation").at("ratio"), nullptr);
  EXPECT_NE(create.at("fragmentation").at("reason").get<std::string>().find("--sync none"), std::string::npos);
  EXPECT_EQ(create.at("files"), create.at("operations"));

  record = good_run({"--phases", "create,read"});
  create = phase(record, "create");
  EXPECT_EQ(record.at("sync"), "phase");
  EXPECT_GE(create.at("sync_seconds"), 0);
  EXPECT_GE(create.at("write_amplification"), 1.0);
}

TEST_P(ConditionCases, VerifiedContentIsCounted) {
  for (const char* content : {"random", "compressible:50"}) {
    const Json record = good_run({"--verify", "--content", content, "--cache", "drop"});
    EXPECT_EQ(record.at("content"), content);
    const std::uint64_t files = phase(record, "create").at("operations");
    EXPECT_EQ(phase(record, "create").at("verified_files"), files);
    EXPECT_EQ(phase(record, "copy").at("verified_files"), files);
    EXPECT_EQ(phase(record, "symlink").at("verified_files"), files);
    EXPECT_EQ(phase(record, "read").at("verified_files"), 2 * files);
    EXPECT_EQ(phase(record, "stat").at("verified_files"), nullptr);
  }
}

/// What is written is what is allocated: nothing is shared, compressed away or left out behind the user's back.
TEST_P(ConditionCases, RandomContentIsAllocatedInFull) {
  const Json create = phase(good_run({"--phases", "create"}), "create");
  EXPECT_EQ(create.at("data_bytes"), create.at("bytes"));
  EXPECT_GE(create.at("allocated_bytes").get<double>(), 0.99 * create.at("bytes").get<double>());
  EXPECT_GE(create.at("used_kib").get<double>() * 1024, 0.99 * create.at("bytes").get<double>());
}

/// Used space is told at one defined point: after the sync, above what the empty file system has.
TEST_P(ConditionCases, UsedSpaceIsTheSameEachTime) {
  const auto used = [&] { return phase(good_run({"--phases", "create"}), "create").at("used_kib").get<double>(); };
  const double first = used(), second = used();
  EXPECT_NEAR(first, second, 0.05 * first);
  EXPECT_LT(first, 4 * 1024 * 4);  // 1 MiB of files of 100 bytes: 4 KiB a file would be 13 MiB
}

TEST_P(ConditionCases, APhasePastItsDeadlineFails) {
  const CommandResult result =
      mongo_run(GetParam().filesystem, std::string(GetParam().filesystem) == "ext2" ? "loop:512MiB" : "loop:1GiB",
                {"--phases", "create,read", "--sync", "each", "--repetitions", "3", "--phase-timeout", "1"});
  EXPECT_EQ(result.exit_status, 1);
  const Json create = phase(last_record(), "create");
  EXPECT_EQ(create.at("status"), "failed") << create.at("elapsed_seconds");
  EXPECT_EQ(create.at("seconds"), nullptr);
  EXPECT_NE(create.at("reason").get<std::string>().find("deadline"), std::string::npos) << create.at("reason");
  EXPECT_NE(create.at("reason").get<std::string>().find("--phase-timeout"), std::string::npos) << create.at("reason");
  EXPECT_LT(create.at("elapsed_seconds"), 5);
  EXPECT_EQ(last_record().at("phase_timeout_seconds"), 1.0);
  expect_nothing_left();
}

/// Few open files, many processes; and a umask that takes everything away.
TEST_P(ConditionCases, LimitsAndUmaskOfTheCaller) {
  const std::pair<const char*, const char*> cases[] = {{"ulimit -n 64", "8"}, {"umask 077", "1"}, {"umask 0777", "1"}};
  for (const auto& [limit, processes] : cases) {
    const CommandResult result =
        test::run({"sh", "-c", std::string(limit) + " && exec \"$@\"", "sh", MONGO_PROGRAM, "run",
                   GetParam().filesystem, GetParam().device, point(), "log", processes, "--results", results(),
                   "--profile", "smoke", "--phases", "create,copy,symlink,delete"});
    EXPECT_EQ(result.exit_status, 0) << limit << ": " << result.err;
    expect_nothing_left();
    test::fs::remove_all(results());
  }
}

class ClockCases : public test::MongoTest {
 protected:
  CommandResult with_clock(const char* clock, int right_readings, int step) {
    return test::run({"env", std::string("LD_PRELOAD=") + MONGO_TEST_CLOCKS, std::string("MONGO_TEST_CLOCK=") + clock,
                      "MONGO_TEST_AFTER=" + std::to_string(right_readings), "MONGO_TEST_STEP=" + std::to_string(step),
                      MONGO_PROGRAM, "run", "ext4", "loop:64MiB", point(), "log", "1", "--results", results(),
                      "--profile", "smoke"});
  }
};

/// The wall clock is for names only: that it is set back by an hour changes no time.
TEST_F(ClockCases, WallClockSetBack) {
  const CommandResult result = with_clock("realtime", 1, -3600);
  EXPECT_EQ(result.exit_status, 0) << result.err;
  const Json record = last_record();
  EXPECT_LT(record.at("ended_at"), record.at("started_at")) << "the clock was not set back: the test tests nothing";
  for (const Json& phase : record.at("passes").at(0).at("phases")) {
    EXPECT_GT(phase.at("seconds"), 0);
    EXPECT_LT(phase.at("seconds"), 100);
  }
  EXPECT_EQ(slurp(results() + "/log_table").find("nan"), std::string::npos);
}

/// A machine that sleeps during a phase: what the clock then says is no measurement.
TEST_F(ClockCases, SuspendedDuringAPhase) {
  // Two readings a phase: the fourth one ends the second phase.
  const CommandResult result = with_clock("boottime", 3, 5);
  EXPECT_EQ(result.exit_status, 1) << result.err;
  const Json record = last_record();
  int suspended = 0;
  for (const Json& phase : record.at("passes").at(0).at("phases")) {
    if (phase.at("suspended_seconds").is_null()) {
      EXPECT_EQ(phase.at("status"), "ok");
      continue;
    }
    ++suspended;
    EXPECT_NEAR(phase.at("suspended_seconds").get<double>(), 5, 0.1);
    EXPECT_EQ(phase.at("status"), "failed");
    EXPECT_EQ(phase.at("seconds"), nullptr);
    EXPECT_NE(phase.at("reason").get<std::string>().find("suspended"), std::string::npos);
  }
  EXPECT_EQ(suspended, 1);
}

class ConditionDetails : public test::MongoTest {};

TEST_F(ConditionDetails, CompressionShowsInWhatIsAllocated) {
  const auto used = [&](const std::string& content) {
    const CommandResult result = mongo_run(
        "btrfs", "loop:1GiB",
        {"--phases", "create", "--repetitions", "1", "--content", content, "--mount-options", "compress=zstd"});
    EXPECT_EQ(result.exit_status, 0) << result.err;
    const Json create = phase(last_record(), "create", 2);
    return create.at("used_kib").get<double>() * 1024 / create.at("bytes").get<double>();
  };
  const double random = used("random");
  EXPECT_GE(random, 0.95);
  EXPECT_LT(used("zero"), 0.5);
  EXPECT_LT(used("letter-a"), 0.5);
  EXPECT_LT(used("compressible:75"), 0.8 * random);
}

TEST_F(ConditionDetails, SectorSizeAndAllocationAreInTheRecord) {
  for (const char* filesystem : {"ext4", "xfs", "btrfs"}) {
    ASSERT_EQ(
        mongo_run(filesystem, "loop:320MiB", {"--profile", "smoke", "--phases", "create", "--sector-size", "4096"})
            .exit_status,
        0);
    Json device = last_record().at("device");
    EXPECT_EQ(device.at("logical_sector_bytes"), 4096) << device;
    EXPECT_EQ(device.at("preallocated"), true) << device;
    EXPECT_TRUE(device.at("direct_io").is_boolean());
    EXPECT_EQ(last_record().at("flags").at(0), "loop-device");
    ASSERT_EQ(
        mongo_run(filesystem, "loop:320MiB", {"--profile", "smoke", "--phases", "create", "--sparse"}).exit_status, 0);
    device = last_record().at("device");
    EXPECT_EQ(device.at("logical_sector_bytes"), 512) << device;
    EXPECT_EQ(device.at("preallocated"), false) << device;
  }
  ASSERT_EQ(mongo_run("ext4", "ram:64MiB", {"--profile", "smoke", "--phases", "create"}).exit_status, 0);
  EXPECT_EQ(last_record().at("flags").at(0), "ram-device");
  EXPECT_EQ(last_record().at("device").at("direct_io"), false);
}

/// ext4 would write its inode tables behind the phases' back.
TEST_F(ConditionDetails, LazyInitialisation) {
  ASSERT_EQ(mongo_run("ext4", "loop:4GiB", {"--profile", "smoke", "--phases", "create", "--sparse"}).exit_status, 0);
  EXPECT_EQ(last_record().at("mkfs").at("lazy_initialisation"), false);
  ASSERT_EQ(
      mongo_run("ext4", "loop:4GiB",
                {"--profile", "smoke", "--phases", "create", "--sparse", "--mkfs-options", "-E lazy_itable_init=1"})
          .exit_status,
      0);
  EXPECT_EQ(last_record().at("mkfs").at("lazy_initialisation"), true);
  bool flagged = false;
  const Json flags = last_record().at("flags");
  for (const Json& flag : flags) flagged |= flag == "lazy-initialisation";
  EXPECT_TRUE(flagged);
  ASSERT_EQ(mongo_run("xfs", "loop:320MiB", {"--profile", "smoke", "--phases", "create"}).exit_status, 0);
  EXPECT_EQ(last_record().at("mkfs").at("lazy_initialisation"), nullptr);
}

TEST_F(ConditionDetails, TheEnvironmentIsInTheRecord) {
  ASSERT_EQ(mongo_run("ext4", "loop:64MiB", {"--profile", "smoke", "--phases", "create,read"}).exit_status, 0);
  const Json host = last_record().at("host");
  for (const char* key : {"kernel", "machine", "distribution", "cpu_model", "cpus", "memory_bytes", "clock_source",
                          "clock_resolution_ns", "load"}) {
    EXPECT_FALSE(host.at(key).is_null()) << key;
  }
  EXPECT_GT(host.at("memory_bytes"), 1 << 20);
  EXPECT_NE(last_record().at("mount").at("version"), nullptr);
  // 1 MiB of files fits into any memory.
  bool told = false;
  const Json warnings = last_record().at("warnings");
  for (const Json& warning : warnings) {
    told |= warning.get<std::string>().find("fit in memory") != std::string::npos;
  }
  EXPECT_TRUE(told) << last_record().at("warnings");
}

}  // namespace
}  // namespace mongo
