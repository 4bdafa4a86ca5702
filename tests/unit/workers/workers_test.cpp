#include "harness/workers/workers.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/filesystem.hpp>
#include <cerrno>

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
void dying_phase(phases::Context& context) {
  if (context.process == 2) kill(getpid(), SIGKILL);
  while (true) pause();
}
void failing_phase(phases::Context& context) {
  for (int i = 0; i < 3; ++i) context.counters->count_error(phases::Operation::create, ENOSPC, "testdir1-1-1", "7");
  context.counters->count_error(phases::Operation::write, EIO, "", "x");
}
std::uint64_t one(const phases::Expectation&) { return 1; }

phases::Phase phase(void (*run)(phases::Context&)) { return {"test", "Test", "", 1, false, false, one, run}; }

class WorkersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/mongo-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    root_ = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
