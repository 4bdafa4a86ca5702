// Whole runs: the published workload, full devices, and every way to interrupt.
#include <signal.h>
#include <sys/wait.h>

#include <map>

#include "tests/cases/mongo_fixture.h"

namespace mongo {
namespace {

using namespace std::chrono_literals;
using test::Json;
using test::MiB;

/// The main job with the published parameters, on each file system that this host has.
class ClassicRun : public test::MongoTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(ClassicRun, HasTheFilesAndDirectoriesOfThePublishedTables) {
  const std::string type = GetParam();
  const bool lost_and_found = type.starts_with("ext");
  const CommandResult result = mongo_run(type, "ram:2GiB");
  ASSERT_EQ(result.exit_status, 0) << result.err;
  const Json record = last_record();
  EXPECT_EQ(record.at("status"), "ok");
  EXPECT_EQ(record.at("filesystem"), type);
  EXPECT_EQ(record.at("profile"), "classic");
  const std::tuple<int, int, int> published[] = {{100, 68952, 241}, {1000, 11616, 43}, {10000, 2292, 31}};
  ASSERT_EQ(record.at("passes").size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& [median, files, directories] = published[i];
    const Json& pass = record.at("passes")[i];
    EXPECT_EQ(pass.at("median_file_size_bytes"), median);
    EXPECT_EQ(pass.at("planned_files"), files);
    EXPECT_EQ(pass.at("files"), files);
    EXPECT_EQ(pass.at("directories"), directories + (lost_and_found ? 1 : 0));
    const std::map<std::string, int> operations{
        {"create", files / 2}, {"copy", files / 2},   {"symlink", files / 2},       {"read", files * 3},
        {"stat", files * 3},   {"rename", files / 2}, {"delete", files + files / 2}};
    ASSERT_EQ(pass.at("phases").size(), 7U);
    for (const Json& phase : pass.at("phases")) {
      EXPECT_EQ(phase.at("status"), "ok");
      EXPECT_EQ(phase.at("operations"), operations.at(phase.at("name"))) << phase.at("name");
      EXPECT_GT(phase.at("seconds"), 0);
      EXPECT_EQ(phase.at("repetition_seconds").size(), 3U);
      EXPECT_GE(phase.at("sync_seconds"), 0);
      EXPECT_TRUE(phase.at("errors").empty());
      EXPECT_EQ(phase.contains("fragmentation"), phase.at("name") == "create" || phase.at("name") == "copy");
    }
    const Json create = phase(record, "create", i), copy = phase(record, "copy", i);
    EXPECT_EQ(create.at("bytes"), copy.at("bytes"));
    EXPECT_EQ(phase(record, "read", i).at("bytes"), create.at("bytes").get<std::uint64_t>() * 6);
    EXPECT_GE(create.at("fragmentation").at("ratio"), 1.0);
    EXPECT_LT(create.at("fragmentation").at("ratio"), 2.0);
    EXPECT_GT(copy.at("used_kib").get<std::uint64_t>(), create.at("used_kib").get<std::uint64_t>());
  }
  expect_nothing_left();
}

INSTANTIATE_TEST_SUITE_P(Types, ClassicRun, ::testing::Values("ext2", "ext3", "ext4", "xfs", "btrfs"),
                         [](const auto& test) { return std::string(test.param); });

class Runs : public test::MongoTest {};

TEST_F(Runs, ThreeProcessesMakeThreeTimesTheFiles) {
  const CommandResult result = mongo_run("ext4", "ram:4GiB", {"--phases", "create,copy,stat"}, "3");
  ASSERT_EQ(result.exit_status, 0) << result.err;
  const Json record = last_record();
  EXPECT_EQ(record.at("processes"), 3);
  const std::pair<int, int> expected[] = {{68952, 241}, {11616, 43}, {2292, 31}};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(record.at("passes")[i].at("files"), 3 * expected[i].first);
    EXPECT_EQ(record.at("passes")[i].at("directories"), 3 * (expected[i].second - 1) + 2);
    // Every process stats every file.
    EXPECT_EQ(phase(record, "stat", i).at("operations"), 3 * 3 * 3 * expected[i].first);
  }
}

void expect_no_time(const Json& phase) {
  EXPECT_TRUE(phase.at("seconds").is_null()) << phase;
  EXPECT_TRUE(phase.at("repetition_seconds").empty());
  EXPECT_NE(phase.at("reason"), nullptr);
}

TEST_F(Runs, TooFewInodes) {
  const CommandResult result = mongo_run("ext3", "ram:256MiB", {"--profile", "smoke", "--mkfs-options", "-N 200"});
  EXPECT_EQ(result.exit_status, 5) << result.err;
  const Json record = last_record();
  EXPECT_EQ(record.at("status"), "incomplete");
  const Json create = phase(record, "create");
  EXPECT_EQ(create.at("status"), "incomplete");
  const std::string reason = create.at("reason");
  EXPECT_TRUE(reason.starts_with("ENOSPC: no inodes left, ")) << reason;
  EXPECT_NE(reason.find(" of " + std::to_string(create.at("planned_operations").get<int>()) + " files"),
            std::string::npos)
      << reason;
  EXPECT_GT(create.at("operations"), 0);
  EXPECT_LT(create.at("operations"), create.at("planned_operations"));
  EXPECT_EQ(create.at("errors")[0].at("name"), "ENOSPC");
  EXPECT_NE(record.at("reason").get<std::string>().find("create at 100 bytes: ENOSPC"), std::string::npos);
  EXPECT_NE(result.err.find("no inodes left"), std::string::npos);
  for (const Json& phase : record.at("passes")[0].at("phases")) {
    if (phase.at("status") != "ok") expect_no_time(phase);
  }
  EXPECT_EQ(phase(record, "read").at("status"), "incomplete") << "it read fewer files than the workload has";
  // No text file has a number where the time of a failed phase would stand.
  const std::string table = slurp(results() + "/log.tbl");
  EXPECT_NE(table.find("Create : -"), std::string::npos) << table;
  EXPECT_EQ(slurp(results() + "/log").find("total Create time: 0"), std::string::npos);
  expect_nothing_left();
}

TEST_F(Runs, TreesThatCreateCouldNotMakeAreNoFailureOfTheLaterPhases) {
  const CommandResult result =
      mongo_run("ext3", "ram:256MiB", {"--profile", "smoke", "--repetitions", "3", "--mkfs-options", "-N 400"});
  EXPECT_EQ(result.exit_status, 5) << result.err;
  const Json record_of_it = last_record();
  for (const Json& phase : record_of_it.at("passes")[0].at("phases")) {
    EXPECT_EQ(phase.at("status"), "incomplete") << phase;
    expect_no_time(phase);
  }
}

TEST_F(Runs, DiskFull) {
  for (const char* type : {"ext2", "ext3", "ext4"}) {
    const CommandResult result = mongo_run(type, "ram:16MiB", {"--repetitions", "1"});
    EXPECT_EQ(result.exit_status, 5) << type << ": " << result.err;
    const Json record = last_record();
    EXPECT_EQ(record.at("status"), "incomplete");
    EXPECT_EQ(record.at("passes").size(), 3U) << "a full pass does not spoil the others";
    for (const Json& pass : record.at("passes")) {
      for (const Json& phase : pass.at("phases")) {
        if (phase.at("status") != "ok") expect_no_time(phase);
      }
    }
    expect_nothing_left();
  }
}

TEST_F(Runs, RequestedAndEffectiveMountOptions) {
  ASSERT_EQ(mongo_run("ext3", "ram:64MiB", {"--profile", "smoke", "--mount-options", "barrier=0,noatime"}).exit_status,
            0);
  const Json mount = last_record().at("mount");
  EXPECT_EQ(mount.at("requested"), "barrier=0,noatime");
  EXPECT_NE(mount.at("effective").get<std::string>().find("nobarrier"), std::string::npos) << mount;
  EXPECT_NE(mount.at("effective").get<std::string>().find("noatime"), std::string::npos);
}

/// Starts mongo and gives it a signal at some moment.
class Interrupts : public test::MongoTest {
 protected:
  pid_t start(const std::vector<std::string>& argv, int stdout_fd) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    dup2(stdout_fd, STDOUT_FILENO);
    dup2(stdout_fd, STDERR_FILENO);
    std::vector<char*> words;
    for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execv(words[0], words.data());
    _exit(127);
  }
  std::vector<std::string> argv(const std::string& device, const std::string& processes) {
    return {MONGO_PROGRAM, "run", "ext4", device, point(), "log", processes, "--results", results()};
  }
  static int wait_for(pid_t pid) {
    for (int i = 0; i < 600; ++i) {
      int status = 0;
      if (waitpid(pid, &status, WNOHANG) == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
      std::this_thread::sleep_for(50ms);
    }
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return -1000;
  }
};

TEST_F(Interrupts, SignalsInCreateWithEightProcesses) {
  const std::string node = device(2048 * MiB);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  std::size_t count = 0;
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    const pid_t pid = start(argv(node, "8"), null);
    std::this_thread::sleep_for(1200ms);
    kill(pid, signal_number);
    std::this_thread::sleep_for(5ms);
    kill(pid, SIGINT);  // a second one during the clean-up changes nothing
    // When both are there before the run is scheduled again, the kernel delivers the lower number first.
    const int status = wait_for(pid);
    EXPECT_TRUE(status == 128 + signal_number || status == 128 + SIGINT) << status;
    expect_nothing_left();
    EXPECT_FALSE(test::fs::exists(point()));
    EXPECT_EQ(records().size(), ++count);
    EXPECT_EQ(last_record().at("status"), "interrupted");
    const Json phase = last_record().at("passes").at(0).at("phases").back();
    EXPECT_EQ(phase.at("status"), "interrupted");
    if (phase.at("elapsed_seconds").is_null()) {
      EXPECT_EQ(phase.at("cpu_system_seconds"), nullptr) << "it was not begun";
    } else if (phase.at("elapsed_seconds") > 0.2) {
      EXPECT_GT(phase.at("operations"), 0);
      EXPECT_GT(phase.at("cpu_system_seconds"), 0);
    }
    EXPECT_EQ(test::run({"fsck.ext4", "-n", node}).exit_status & 4, 0) << "it was unmounted and not pulled away";
  }
  close(null);
  const CommandResult again = mongo_run("ext4", node, {"--profile", "smoke"});
  EXPECT_EQ(again.exit_status, 0) << again.err;
}

TEST_F(Interrupts, AtAnyMomentOfASmokeRun) {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int moment = 0; moment < 24; ++moment) {
    std::vector<std::string> words = argv("ram:64MiB", "2");
    words.insert(words.end(), {"--profile", "smoke"});
    const pid_t pid = start(words, null);
    std::this_thread::sleep_for(std::chrono::milliseconds(moment * 12));
    kill(pid, SIGTERM);
    const int status = wait_for(pid);
    // Before main has begun the signal ends it at once; after the work is done there is nothing to interrupt.
    EXPECT_TRUE(status == 128 + SIGTERM || status == -SIGTERM || status == 0) << moment << ": " << status;
    expect_nothing_left();
    EXPECT_FALSE(test::fs::exists(point())) << moment;
  }
  close(null);
  EXPECT_EQ(mongo_run("ext4", "ram:64MiB", {"--profile", "smoke"}).exit_status, 0);
}

TEST_F(Interrupts, ClosedStdoutDoesNotSkipTheUnmount) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  std::vector<std::string> words = argv("ram:64MiB", "1");
  words.insert(words.end(), {"--profile", "smoke", "--repetitions", "20"});
  const pid_t pid = start(words, ends[1]);
  close(ends[1]);
  char byte;
  EXPECT_EQ(read(ends[0], &byte, 1), 1);  // as head -1 does
  close(ends[0]);
  EXPECT_EQ(wait_for(pid), 128 + SIGPIPE);
  expect_nothing_left();
  EXPECT_EQ(last_record().at("status"), "interrupted");
  EXPECT_EQ(mongo_run("ext4", "ram:64MiB", {"--profile", "smoke"}).exit_status, 0);
}

TEST_F(Interrupts, AfterSigkillTheKernelUndoesIt) {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  const std::string node = device(256 * MiB);
  const pid_t pid = start(argv(node, "4"), null);
  std::this_thread::sleep_for(700ms);
  kill(pid, SIGKILL);
  wait_for(pid);
  close(null);
  for (int i = 0; i < 100 && !test::run({"pgrep", "-f", point()}).out.empty(); ++i) std::this_thread::sleep_for(50ms);
  expect_nothing_left();
  const CommandResult again = mongo_run("ext4", node, {"--profile", "smoke"});
  EXPECT_EQ(again.exit_status, 0) << again.err;
}

TEST_F(Interrupts, UmaskAndFewDescriptorsDoNotMatter) {
  for (const char* limits : {"umask 077", "umask 0777", "ulimit -n 64"}) {
    const CommandResult result =
        test::run({"sh", "-c", std::string(limits) + "; exec \"$@\"", "sh", MONGO_PROGRAM, "run", "ext4", "ram:512MiB",
                   point(), "log", "8", "--profile", "smoke", "--mkfs-options", "-N 60000", "--results", results()});
    EXPECT_EQ(result.exit_status, 0) << limits << ": " << result.err;
  }
}

}  // namespace
}  // namespace mongo
