#include "harness/workers/workers.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/filesystem.hpp>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "harness/core/errors.h"
#include "phases/catalogue.h"
#include "phases/support/tree.h"

// These need neither root nor a device: a folder is enough for the processes.

namespace mongo {
namespace {

using namespace std::chrono_literals;

void sleep_phase(phases::Context& context) {
  usleep(200'000);
  context.counters->files += 1;
}
void endless_phase(phases::Context&) {
  while (true) pause();
}
/// Has worked on one file, and uses CPU time for ever.
void busy_phase(phases::Context& context) {
  context.counters->files += 1;
  context.counters->bytes += 10;
  while (true) getppid();
}
void dying_phase(phases::Context& context) {
  if (context.process == 2) kill(getpid(), SIGKILL);
  while (true) pause();
}
void failing_phase(phases::Context& context) {
  for (int i = 0; i < 3; ++i) context.counters->count_error(phases::Operation::create, ENOSPC, "testdir1-1-1", "7");
  context.counters->count_error(phases::Operation::write, EIO, "", "x");
}
void mismatching_phase(phases::Context& context) {
  context.counters->count_error(phases::Operation::verify, 0, "testdir1-1-1", "7 at byte 4096");
  context.counters->count_error(phases::Operation::read, EIO, "testdir1-1-1", "8");
  context.counters->files += 1;
}
void throwing_phase(phases::Context& context) {
  if (context.process == 3) throw std::runtime_error("test");
  while (true) pause();
}
/// Succeeds when the process could have 40 descriptors more than it has.
void descriptor_hungry_phase(phases::Context& context) {
  for (int i = 0; i < 40; ++i) {
    if (dup(context.mount_fd) < 0) {
      context.counters->count_error(phases::Operation::open, errno, "", "x");
      return;
    }
  }
  context.counters->files += 1;
}
std::uint64_t one(const phases::Expectation&) { return 1; }

phases::Phase phase(void (*run)(phases::Context&)) { return {"test", "Test", "", 1, false, false, one, run}; }

/// Another soft limit of a resource for as long as this lives.
class SoftLimit {
 public:
  SoftLimit(__rlimit_resource resource, rlim_t limit) : resource_(resource) {
    getrlimit(resource_, &before_);
    const rlimit changed{limit, before_.rlim_max};
    setrlimit(resource_, &changed);
  }
  ~SoftLimit() { setrlimit(resource_, &before_); }
  SoftLimit(const SoftLimit&) = delete;
  SoftLimit& operator=(const SoftLimit&) = delete;

 private:
  __rlimit_resource resource_;
  rlimit before_{};
};

class WorkersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* const base = std::getenv("TMPDIR");
    folder_ = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/mongo-test-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    root_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }
  void TearDown() override {
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a process was left";
    close(root_);
    boost::filesystem::remove_all(folder_);
  }
  RepetitionRequest request(const phases::Phase& phase, int processes) {
    RepetitionRequest request;
    request.phase = &phase;
    request.processes = processes;
    request.mount_fd = root_;
    request.mount_path = folder_;
    return request;
  }
  std::string folder_;
  int root_ = -1;
  InterruptWatch watch_;
};

TEST_F(WorkersTest, RunTogetherAndAreTimedFromTheBarrierToTheLastEnd) {
  const phases::Phase sleep = phase(sleep_phase);
  const RepetitionResult result = run_repetition(request(sleep, 8), watch_);
  EXPECT_EQ(result.failure, "");
  EXPECT_EQ(result.files, 8U);
  EXPECT_GE(result.seconds, 0.2);
  EXPECT_LT(result.seconds, 0.8) << "one after another they would take 1.6 s";
  EXPECT_GE(result.start_skew_seconds, 0);
  EXPECT_LT(result.cpu_user_seconds + result.cpu_system_seconds, 0.2);
}

TEST_F(WorkersTest, MakeTheirTreesSideBySide) {
  RepetitionRequest create = request(*phases::find("create"), 3);
  create.tree = {100'000, 100, 10'000, 10, 100, 0, 1};
  const RepetitionResult result = run_repetition(create, watch_);
  EXPECT_EQ(result.failure, "");
  EXPECT_EQ(result.files, 3 * phases::plan_tree(create.tree).files);
  EXPECT_EQ(result.bytes, 3 * phases::plan_tree(create.tree).total_bytes);
  EXPECT_TRUE(result.errors.empty());
  for (const char* name : {"/testdir1-1-1", "/testdir1-1-2", "/testdir1-1-3"}) {
    EXPECT_TRUE(boost::filesystem::exists(folder_ + name));
  }
}

TEST_F(WorkersTest, ErrorsAreSummedOverTheProcesses) {
  const phases::Phase failing = phase(failing_phase);
  const RepetitionResult result = run_repetition(request(failing, 4), watch_);
  EXPECT_EQ(result.failure, "") << "a failed operation is no dead process";
  ASSERT_EQ(result.errors.size(), 2U);
  EXPECT_EQ(result.errors[0].operation, "create");
  EXPECT_EQ(result.errors[0].name, "ENOSPC");
  EXPECT_EQ(result.errors[0].count, 12U);
  EXPECT_EQ(result.errors[0].first_path, "testdir1-1-1/7");
  EXPECT_EQ(result.errors[1].name, "EIO");
}

TEST_F(WorkersTest, ADeadProcessStopsTheOthersAndIsNamed) {
  const phases::Phase dying = phase(dying_phase);
  const RepetitionResult result = run_repetition(request(dying, 4), watch_);
  EXPECT_NE(result.failure.find("was killed by signal 9"), std::string::npos) << result.failure;
}

TEST_F(WorkersTest, TheOthersAreStoppedAtOnceWhenOneDies) {
  const phases::Phase dying = phase(dying_phase);
  const phases::Phase throwing = phase(throwing_phase);
  const auto start = std::chrono::steady_clock::now();
  const RepetitionResult killed = run_repetition(request(dying, 8), watch_);
  EXPECT_NE(killed.failure.find("was killed by signal 9 (Killed)"), std::string::npos) << killed.failure;
  const RepetitionResult broken = run_repetition(request(throwing, 8), watch_);
  EXPECT_NE(broken.failure.find("(status 3)"), std::string::npos) << broken.failure;
  EXPECT_LT(std::chrono::steady_clock::now() - start, 3s) << "the others would go on for ever";
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

/// A limit of processes does not hold for root: the harness of this test is someone else.
TEST_F(WorkersTest, AProcessThatCannotBeStartedStopsTheOthers) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be a user that has no other process";
  const phases::Phase endless = phase(endless_phase);
  ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t harness = fork();
  if (harness == 0) {
    const rlimit three{3, 3};
    if (setrlimit(RLIMIT_NPROC, &three) != 0 || setgid(54321) != 0 || setuid(54321) != 0) _exit(1);
    const InterruptWatch watch;
    const std::string failure = run_repetition(request(endless, 8), watch).failure;
    const bool told = write(pipe_ends[1], failure.data(), failure.size()) == static_cast<ssize_t>(failure.size());
    _exit(told && waitpid(-1, nullptr, WNOHANG) == -1 ? 0 : 2);
  }
  close(pipe_ends[1]);
  char failure[200] = "";
  EXPECT_GT(read(pipe_ends[0], failure, sizeof failure - 1), 0);
  close(pipe_ends[0]);
  int status = -1;
  waitpid(harness, &status, 0);
  EXPECT_EQ(status, 0) << "a process was left";
  EXPECT_EQ(std::string(failure), "process 3 of 8 could not be started: Resource temporarily unavailable (EAGAIN)");
}

TEST_F(WorkersTest, FewDescriptorsAreEnoughForAllPhases) {
  const SoftLimit few(RLIMIT_NOFILE, 64);
  for (const phases::Phase* entry : phases::catalogue()) {
    RepetitionRequest all = request(*entry, 8);
    all.tree = {200'000, 100, 10'000, 100, 10'000, 0, 1};
    const std::uint64_t files = phases::plan_tree(all.tree).files;
    const RepetitionResult result = run_repetition(all, watch_);
    EXPECT_EQ(result.failure, "") << entry->name;
    EXPECT_TRUE(result.errors.empty()) << entry->name << result.errors[0].first_path;
    EXPECT_GE(result.files, 8 * files) << entry->name;
    if (entry->verify == nullptr) continue;
    all.verify = true;
    EXPECT_TRUE(run_repetition(all, watch_).errors.empty()) << entry->name;
  }
}

TEST_F(WorkersTest, TheOthersTakeNoDescriptorOfAProcess) {
  const SoftLimit few(RLIMIT_NOFILE, 64);
  const phases::Phase hungry = phase(descriptor_hungry_phase);
  const RepetitionResult result = run_repetition(request(hungry, 30), watch_);
  EXPECT_EQ(result.failure, "");
  EXPECT_TRUE(result.errors.empty());
  EXPECT_EQ(result.files, 30U);
}

TEST_F(WorkersTest, TooManyProcessesForTheLimitOfOpenFiles) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "where no descriptor is left the sanitizer takes every object for a wrong one (it needs a pipe)";
#endif
  const SoftLimit few(RLIMIT_NOFILE, 64);
  const phases::Phase endless = phase(endless_phase);
  try {
    run_repetition(request(endless, 100), watch_);
    ADD_FAILURE() << "nothing was said";
  } catch (const RunError& error) {
    EXPECT_NE(std::string(error.what()).find("(EMFILE): raise the limit of open files (ulimit -n)"), std::string::npos)
        << error.what();
  }
}

TEST_F(WorkersTest, ModesDoNotDependOnTheCallersUmask) {
  int repetition = 0;
  for (const mode_t mask : {0000, 0022, 0077, 0777}) {
    const mode_t before = umask(mask);
    RepetitionRequest create = request(*phases::find("create"), 2);
    create.repetition = ++repetition;
    create.tree = {100'000, 100, 10'000, 10, 100, 0, 1};
    const RepetitionResult result = run_repetition(create, watch_);
    EXPECT_EQ(umask(before), mask) << "the caller's own is left alone";
    EXPECT_TRUE(result.errors.empty());
    const std::string tree = folder_ + "/testdir1-" + std::to_string(repetition) + "-2";
    for (const std::string& name : {tree, tree + "/1", tree + "/d0"}) {
      struct stat status {};
      EXPECT_EQ(stat(name.c_str(), &status), 0) << name;
      EXPECT_EQ(status.st_mode & 07777U, 0755U) << name;
    }
  }
}

TEST_F(WorkersTest, ContentAndSyncReachThePhase) {
  RepetitionRequest create = request(*phases::find("create"), 2);
  create.tree = {100'000, 100, 10'000, 10, 100, 0, 1};
  create.content = {phases::ContentKind::zero, 0};
  create.sync_each = true;
  const RepetitionResult result = run_repetition(create, watch_);
  ASSERT_NE(result.latencies, nullptr);
  EXPECT_EQ(result.latencies->of[static_cast<std::size_t>(phases::Operation::fsync)].count, result.files);
  std::ifstream file(folder_ + "/testdir1-1-2/1", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_FALSE(bytes.empty());
  EXPECT_EQ(bytes, std::string(bytes.size(), '\0'));
}

TEST_F(WorkersTest, VerifyComparesAfterThePhase) {
  RepetitionRequest create = request(*phases::find("create"), 3);
  create.tree = {100'000, 100, 10'000, 10, 100, 0, 1};
  create.content = {phases::ContentKind::compressible, 30};
  create.write_buffer_size = 100;
  const std::uint64_t files = run_repetition(create, watch_).files;
  create.verify = true;
  const RepetitionResult right = run_repetition(create, watch_);
  EXPECT_EQ(right.failure, "");
  EXPECT_TRUE(right.errors.empty());
  EXPECT_EQ(right.files, files);
  EXPECT_EQ(right.latencies, nullptr);

  ASSERT_EQ(truncate((folder_ + "/testdir1-1-2/1").c_str(), 1'000'000), 0);
  const RepetitionResult wrong = run_repetition(create, watch_);
  EXPECT_EQ(wrong.failure, "");
  EXPECT_EQ(wrong.files, files - 1);
  ASSERT_EQ(wrong.errors.size(), 1U);
  EXPECT_EQ(wrong.errors[0].name, "MISMATCH");
  EXPECT_EQ(wrong.errors[0].first_path.find("testdir1-1-2/1 has 1000000 bytes instead of "), 0U);

  create.content_seed = 2;
  EXPECT_GT(run_repetition(create, watch_).errors.at(0).count, files / 2);
}

TEST_F(WorkersTest, DifferencesAreSummedAndNamed) {
  phases::Phase test = phase(endless_phase);
  test.verify = mismatching_phase;
  RepetitionRequest comparison = request(test, 4);
  comparison.verify = true;
  const RepetitionResult result = run_repetition(comparison, watch_);
  EXPECT_EQ(result.failure, "");
  EXPECT_EQ(result.files, 4U);
  ASSERT_EQ(result.errors.size(), 2U);
  EXPECT_EQ(result.errors[0].operation, "verify");
  EXPECT_EQ(result.errors[0].name, "MISMATCH");
  EXPECT_EQ(result.errors[0].code, 0);
  EXPECT_EQ(result.errors[0].count, 4U);
  EXPECT_EQ(result.errors[0].first_path, "testdir1-1-1/7 at byte 4096");
  EXPECT_EQ(result.errors[1].operation, "read");
  EXPECT_EQ(result.errors[1].name, "EIO");
}

TEST_F(WorkersTest, NothingToCompareIsRefused) {
  RepetitionRequest comparison = request(*phases::find("stat"), 1);
  comparison.verify = true;
  EXPECT_THROW(run_repetition(comparison, watch_), std::invalid_argument);
}

TEST_F(WorkersTest, TheDeadlineIsToldInSeconds) {
  phases::Phase endless = phase(endless_phase);
  endless.verify = endless_phase;
  RepetitionRequest late = request(endless, 1);
  for (const auto& [deadline, text] : {std::pair{500ms, "0.5"}, {1000ms, "1"}, {120ms, "0.12"}, {1ms, "0.001"}}) {
    late.deadline = deadline;
    EXPECT_EQ(run_repetition(late, watch_).failure,
              "the phase passed its deadline of " + std::string(text) + " s: raise --phase-timeout");
  }
  late.verify = true;
  EXPECT_EQ(run_repetition(late, watch_).failure,
            "the comparison passed its deadline of 0.001 s: raise --phase-timeout");
}

TEST_F(WorkersTest, TheDeadlineStopsAll) {
  const phases::Phase endless = phase(endless_phase);
  RepetitionRequest late = request(endless, 2);
  late.deadline = 200ms;
  const auto start = std::chrono::steady_clock::now();
  const RepetitionResult result = run_repetition(late, watch_);
  EXPECT_NE(result.failure.find("deadline"), std::string::npos) << result.failure;
  EXPECT_GE(result.seconds, 0.19);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 3s);
}

TEST_F(WorkersTest, ASignalStopsAll) {
  const phases::Phase endless = phase(endless_phase);
  const pid_t self = getpid();
  const pid_t other = fork();
  if (other == 0) {
    usleep(200'000);
    kill(self, SIGINT);
    _exit(0);
  }
  EXPECT_THROW(run_repetition(request(endless, 4), watch_), Interrupted);
  waitpid(other, nullptr, 0);
}

TEST_F(WorkersTest, WhatWasDoneUntilASignalIsTold) {
  const phases::Phase busy = phase(busy_phase);
  RepetitionRequest told = request(busy, 2);
  int calls = 0;
  told.progress_interval = 20ms;
  told.progress = [&](std::uint64_t files) {
    if (files == 2 && ++calls == 10) kill(getpid(), SIGINT);
  };
  RepetitionResult result;
  EXPECT_THROW(run_repetition(told, watch_, result), Interrupted);
  EXPECT_EQ(result.files, 2U);
  EXPECT_EQ(result.bytes, 20U);
  EXPECT_GE(result.seconds, 0.18);
  EXPECT_GT(result.cpu_user_seconds + result.cpu_system_seconds, 0);
  EXPECT_TRUE(result.latencies);
}

TEST_F(WorkersTest, WhatWasDoneUntilTheDeadlineIsTold) {
  const phases::Phase busy = phase(busy_phase);
  RepetitionRequest late = request(busy, 1);
  late.deadline = 1500ms;
  const RepetitionResult result = run_repetition(late, watch_);
  EXPECT_EQ(result.files, 1U);
  EXPECT_GE(result.seconds, 1.5);
  EXPECT_GT(result.cpu_user_seconds + result.cpu_system_seconds, 0);
}

TEST_F(WorkersTest, AtTheEndAllProcessesAreThereAndNoneIsTimed) {
  const phases::Phase sleep = phase(sleep_phase);
  RepetitionRequest looked_at = request(sleep, 3);
  int starts = 0, ends = 0;
  const auto children = [] {
    std::ifstream in("/proc/self/task/" + std::to_string(getpid()) + "/children");
    return std::distance(std::istream_iterator<int>(in), std::istream_iterator<int>());
  };
  looked_at.at_start = [&] {
    ++starts;
    EXPECT_EQ(children(), 3);
    usleep(700'000);
  };
  looked_at.at_end = [&] {
    ++ends;
    EXPECT_EQ(starts, 1);
    EXPECT_EQ(children(), 3);
    usleep(700'000);
    EXPECT_EQ(children(), 3) << "they wait until it has returned";
  };
  looked_at.deadline = 650ms;
  const RepetitionResult result = run_repetition(looked_at, watch_);
  EXPECT_EQ(result.failure, "") << "the deadline is that of the work";
  EXPECT_EQ(result.files, 3U);
  EXPECT_LT(result.seconds, 0.65);
  EXPECT_EQ(ends, 1);

  const phases::Phase dying = phase(dying_phase);
  looked_at.phase = &dying;
  EXPECT_NE(run_repetition(looked_at, watch_).failure, "");
  EXPECT_EQ(starts, 2);
  EXPECT_EQ(ends, 1) << "not when one of them is gone";
}

TEST_F(WorkersTest, DieWithTheHarness) {
  const phases::Phase endless = phase(endless_phase);
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t harness = fork();
  if (harness == 0) {
    close(pipe_ends[0]);
    const InterruptWatch watch;
    run_repetition(request(endless, 4), watch);
    _exit(0);
  }
  close(pipe_ends[1]);
  usleep(300'000);
  kill(harness, SIGKILL);
  waitpid(harness, nullptr, 0);
  // The workers hold the other end of the pipe: its end of file means that all of them are gone.
  alarm(10);
  char byte;
  EXPECT_EQ(read(pipe_ends[0], &byte, 1), 0);
  alarm(0);
  close(pipe_ends[0]);
}

TEST_F(WorkersTest, ProgressIsTold) {
  const phases::Phase sleep = phase(sleep_phase);
  RepetitionRequest told = request(sleep, 2);
  int calls = 0;
  told.progress_interval = 20ms;
  told.progress = [&](std::uint64_t files) {
    ++calls;
    EXPECT_LE(files, 2U);
  };
  run_repetition(told, watch_);
  EXPECT_GE(calls, 3);
}

}  // namespace
}  // namespace mongo
