#include <chrono>
#include <string>

#include "harness/core/errors.h"
#include "tests/device/run/failing_fixture.h"

namespace mongo {
namespace {

using namespace std::chrono_literals;
using test::FailingTest;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Runs in a process of its own, which is waited for at the end.
class Meanwhile {
 public:
  template <class Work>
  explicit Meanwhile(Work work) : pid_(fork()) {
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    work();
    _exit(0);
  }
  ~Meanwhile() { waitpid(pid_, nullptr, 0); }
  Meanwhile(const Meanwhile&) = delete;
  Meanwhile& operator=(const Meanwhile&) = delete;

 private:
  pid_t pid_;
};

TEST_F(FailingTest, LaterPhasesGoOnWithWhatExists) {
  mount({"create:10:ENOSPC"});
  EXPECT_EQ(rounds_.run("create").status, Status::incomplete);
  mount_->obey();
  const struct {
    const char* phase;
    std::uint64_t done, planned;
  } expected[] = {{"copy", 9, 39},  {"symlink", 9, 39}, {"read", 18, 78},
                  {"stat", 18, 78}, {"rename", 9, 39},  {"delete", 27, 117}};
  for (const auto& [phase, done, planned] : expected) {
    const PhaseRecord record = rounds_.run(phase);
    EXPECT_EQ(record.status, Status::incomplete) << phase;
    EXPECT_EQ(record.operations, done) << phase;
    EXPECT_EQ(record.planned_operations, planned) << phase;
    EXPECT_EQ(record.reason,
              std::to_string(done) + " of " + std::to_string(planned) + " files: create did not succeed before it");
    EXPECT_EQ(test::errors_text(record), "") << phase;
    test::expect_no_time(record);
  }
  EXPECT_EQ(access((folder_ + "/testdir1-1-1").c_str(), F_OK), -1);
  EXPECT_EQ(access((folder_ + "/testdir2-1-1").c_str(), F_OK), -1);
}

TEST_F(FailingTest, AFailureWeighsMoreThanAFullDiskAndBothAreKept) {
  mount({"write:3x1:EIO", "create:20:ENOSPC", "flush:9x1:EDQUOT"});
  const PhaseRecord record = rounds_.run("create");
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_EQ(test::errors_text(record),
            "write EIO x1 testdir1-1-1/3; close EDQUOT x1 testdir1-1-1/d0/9; create ENOSPC x20 testdir1-1-1/d0/d1/20");
  EXPECT_EQ(record.reason, "EIO: Input/output error, 17 of 39 files; first at testdir1-1-1/3 (write)");
}

TEST_F(FailingTest, ErrorsOfAllProcessesAreSummed) {
  rounds_.processes = 4;
  mount({"write:101:EIO"});
  const PhaseRecord record = rounds_.run("create");
  EXPECT_EQ(record.operations, 100U);
  ASSERT_EQ(record.errors.size(), 1U);
  EXPECT_EQ(record.errors[0].count, 4 * files - 100);
  EXPECT_TRUE(contains(record.reason, "100 of 156 files")) << record.reason;
}

TEST_F(FailingTest, ACutFileIsNotReadForATime) {
  mount({"write:5x1:EIO"});
  EXPECT_EQ(rounds_.run("create").status, Status::failed);
  const PhaseRecord record = rounds_.run("read");  // all 39 are there, but one is empty
  EXPECT_EQ(record.operations, files);
  EXPECT_EQ(record.status, Status::incomplete);
  test::expect_no_time(record);
}

TEST_F(FailingTest, AWrongByteIsFoundAndPlaced) {
  mount();
  PhaseRecord create = rounds_.run("create");
  mount_->obey("corrupt:12x1");
  rounds_.verify(create);
  const std::uint64_t middle = test::planned_files(rounds_.tree).at("d0/12") / 2;
  EXPECT_EQ(test::errors_text(create), "verify MISMATCH x1 testdir1-1-1/d0/12 at byte " + std::to_string(middle));
  EXPECT_EQ(create.status, Status::failed);
  EXPECT_TRUE(contains(create.reason, "testdir1-1-1/d0/12 at byte " + std::to_string(middle))) << create.reason;
  EXPECT_EQ(create.verified_files, files - 1);
  EXPECT_EQ(create.operations, files) << "the phase itself has done its work";
  test::expect_no_time(create);
}

TEST_F(FailingTest, ACopyOfWrongBytesIsFoundThoughAllCallsSucceed) {
  mount();
  run_well("create");
  mount_->obey("corrupt:3x1");
  PhaseRecord copy = rounds_.run("copy");
  EXPECT_EQ(copy.status, Status::ok) << "nothing was compared yet";
  mount_->obey();
  rounds_.verify(copy);
  EXPECT_EQ(copy.status, Status::failed);
  ASSERT_EQ(copy.errors.size(), 1U);
  EXPECT_EQ(copy.errors[0].name, "MISMATCH");
  EXPECT_TRUE(contains(copy.errors[0].first_path, "testdir2-1-1/3 at byte ")) << copy.errors[0].first_path;
}

TEST_F(FailingTest, AReadErrorDuringTheComparisonIsNoDifference) {
  mount();
  PhaseRecord create = rounds_.run("create");
  mount_->obey("read:1x1:EIO");
  rounds_.verify(create);
  EXPECT_EQ(create.status, Status::failed);
  EXPECT_EQ(test::errors_text(create), "read EIO x1 testdir1-1-1/1");
  test::expect_no_time(create);
}

TEST_F(FailingTest, AHangIsEndedByTheDeadline) {
  rounds_.processes = 3;
  rounds_.deadline = 1s;
  mount({"hang:5x1"});  // one process; the others are ready long before
  const auto start = std::chrono::steady_clock::now();
  const PhaseRecord record = rounds_.run("create");
  const auto lasted = std::chrono::steady_clock::now() - start;
  EXPECT_GE(lasted, 1s);
  EXPECT_LT(lasted, 5s);
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_TRUE(contains(record.reason, "deadline of 1 s")) << record.reason;
  EXPECT_GE(record.operations, 2 * files) << "the others have done their work";
  EXPECT_LT(record.operations, 3 * files);
  test::expect_no_time(record);
  expect_no_worker_left();
  // And the mount is as good as before.
  mount_->obey();
  rounds_.deadline = 60s;
  EXPECT_EQ(rounds_.run("delete").operations, record.operations + 1) << "also the file whose write never came back";
}

TEST_F(FailingTest, AllAreStoppedWhenAllHang) {
  rounds_.processes = 4;
  rounds_.deadline = 1s;
  mount({"hang:1"});
  const PhaseRecord record = rounds_.run("create");
  EXPECT_TRUE(contains(record.reason, "deadline of 1 s")) << record.reason;
  EXPECT_TRUE(contains(record.reason, "0 of 156 files")) << record.reason;
  expect_no_worker_left();
}

TEST_F(FailingTest, ACallThatCannotBeStoppedIsWaitedFor) {
  rounds_.processes = 2;
  rounds_.deadline = 500ms;
  mount({"stuck:5x1"});
  const auto start = std::chrono::steady_clock::now();
  const pid_t server = mount_->server();
  const Meanwhile meanwhile([&] {
    usleep(2'000'000);
    kill(server, SIGKILL);  // all that can let the call go
  });
  const RepetitionResult result = rounds_.repetition("create");
  const auto lasted = std::chrono::steady_clock::now() - start;
  EXPECT_GE(lasted, 2s);
  EXPECT_LT(lasted, 6s);
  EXPECT_TRUE(contains(result.failure, "deadline of 0.5 s")) << result.failure;
}

TEST_F(FailingTest, AKilledWorkerFailsThePhase) {
  rounds_.processes = 3;
  mount({"hang:20"});  // nobody ends by himself
  const pid_t self = getpid();
  const pid_t server = mount_->server();
  const auto start = std::chrono::steady_clock::now();
  const Meanwhile meanwhile([&] {
    usleep(300'000);
    for (const pid_t worker : test::children_of(self)) {
      if (worker == server || worker == getpid()) continue;
      kill(worker, SIGKILL);
      break;
    }
  });
  const PhaseRecord record = rounds_.run("create");
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_TRUE(contains(record.reason, "was killed by signal 9 (Killed), 19 of 117 files")) << record.reason;
  EXPECT_EQ(record.operations, 19U);
  test::expect_no_time(record);
}

TEST_F(FailingTest, AnInterruptionStopsAll) {
  rounds_.processes = 3;
  mount({"hang:20"});
  const pid_t self = getpid();
  {
    const Meanwhile meanwhile([&] {
      usleep(300'000);
      kill(self, SIGTERM);
    });
    EXPECT_THROW(rounds_.run("create"), Interrupted);
  }
  expect_no_worker_left();
}

TEST_F(FailingTest, WhatIsWrittenLaterFailsAtClose) {
  mount({"cached", "write:5:ENOSPC"});
  const PhaseRecord record = rounds_.run("create");
  EXPECT_EQ(record.status, Status::incomplete);
  EXPECT_EQ(test::errors_text(record), "close ENOSPC x35 testdir1-1-1/d0/5");
  EXPECT_EQ(record.operations, 4U);
  test::expect_no_time(record);
  // And once more, for the file system as a whole.
  EXPECT_EQ(errno_name(sync_filesystem(rounds_.root()).error), "ENOSPC");
  EXPECT_EQ(sync_filesystem(rounds_.root()).error, 0) << "an error is told once";
}

TEST_F(FailingTest, WhatIsWrittenLaterFailsAtFsync) {
  rounds_.sync_each = true;
  mount({"cached", "write:5x1:EIO"});
  const PhaseRecord record = rounds_.run("create");
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_EQ(test::errors_text(record), "fsync EIO x1 testdir1-1-1/d0/5");
  EXPECT_EQ(record.operations, files - 1);
  EXPECT_EQ(errno_name(sync_filesystem(rounds_.root()).error), "EIO");
}

TEST_F(FailingTest, AServerThatDiesFailsAllPhases) {
  mount();
  run_well("create");
  kill(mount_->server(), SIGKILL);
  const RepetitionResult result = rounds_.repetition("stat");
  EXPECT_NE(result.failure + test::errors_text(judge_phase(*phases::find("stat"), files, {result}, {}, "")), "");
  EXPECT_EQ(result.files, 0U);
}

}  // namespace
}  // namespace mongo
