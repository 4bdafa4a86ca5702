// Every program that a run starts is made to fail in every way, one at a time: the record says so, all is undone, and
// the next run succeeds.
#include "tests/support/failing_runner.h"

#include <algorithm>

#include "harness/core/errors.h"
#include "harness/run/cell_runner.h"
#include "tests/cases/mongo_fixture.h"

namespace mongo {
namespace {

using test::Failure;
using test::Json;
using test::MiB;

class SilentObserver : public RunObserver {
 public:
  void note(const std::string& text) override { notes += text + "\n"; }
  void phase_started(std::uint64_t, const std::string&, std::uint64_t) override {}
  void phase_progress(std::uint64_t, double) override {}
  void phase_finished(std::uint64_t, const PhaseRecord&) override {}
  int progress_interval() const override { return 0; }
  std::string notes;
};

struct TypeAndDevice {
  const char* type;
  int mebibytes;
  bool in_memory;
};

std::ostream& operator<<(std::ostream& out, const TypeAndDevice& device) { return out << device.type; }

class FailingRunner : public test::MongoTest, public ::testing::WithParamInterface<TypeAndDevice> {
 protected:
  void SetUp() override {
    test::MongoTest::SetUp();
    if (IsSkipped()) return;
    if (find_program(std::string("mkfs.") + GetParam().type).empty()) GTEST_SKIP() << "needs mkfs." << GetParam().type;
    given_ = GetParam().in_memory ? "ram:" + std::to_string(GetParam().mebibytes) + "MiB"
                                  : device(static_cast<std::uint64_t>(GetParam().mebibytes) * MiB);
  }

  /// Two passes of a few files, so that there are programs before and after a mount.
  Cell cell() const {
    RunRequest request;
    request.filesystem = GetParam().type;
    request.device = given_;
    request.mount_point = point();
    request.log = "log";
    request.processes = "2";
    request.profile = "smoke";
    request.phases = "create,delete";
    request.results = results();
    Cell cell = resolve(request);
    cell.profile.passes.front().bytes_to_consume = 20'000;
    cell.profile.passes.push_back(cell.profile.passes.front());
    return cell;
  }

  /// What is left of the run while its process still lives: by then nothing may be, the kernel has undone nothing yet.
  std::string left_in_process() const {
    std::string left;
    if (slurp("/proc/self/mountinfo").find(folder_) != std::string::npos) left += "a mount; ";
    if (test::fs::exists(point())) left += "the mount point; ";
    for (test::fs::directory_iterator file(folder_), end; file != end; ++file) {
      const std::string name = file->path().filename().string();
      if (!name.starts_with("disk") && name != "results") left += name + "; ";
    }
    for (test::fs::directory_iterator block("/sys/block"), end; block != end; ++block) {
      const std::string backing = slurp(block->path().string() + "/loop/backing_file");
      if (backing.find("memfd:mongo-" + std::to_string(getpid())) != std::string::npos) left += backing;
    }
    return left;
  }

  std::string left_afterwards(const Json& end) const {
    std::string left;
    std::string number = end.value("major_minor", "");
    std::replace(number.begin(), number.end(), ':', '-');
    const std::string lock = "/run/lock/mongo/" + number;
    // Another run may have got the number of a loop device by now.
    if (!number.empty() && !GetParam().in_memory && test::fs::exists(lock)) left += lock + "; ";
    if (!GetParam().in_memory) {
      const int fd = open(given_.c_str(), O_RDONLY | O_EXCL | O_CLOEXEC);
      if (fd < 0) left += "somebody still has the device; ";
      if (fd >= 0) close(fd);
    }
    return left + left_in_process();
  }

  /// Runs the cell in a child, and returns what it found there.
  Json run_failing(int victim, Failure failure) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const pid_t pid = fork();
    if (pid == 0) {
      const std::string text = child(victim, failure).dump(-1, ' ', false, Json::error_handler_t::replace);
      _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    close(ends[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t size; (size = read(ends[0], buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<std::size_t>(size));
    }
    close(ends[0]);
    int status = -1;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0) << "the run's process ended by itself";
    const Json end = Json::parse(text, nullptr, false);
    return end.is_object() ? end : Json::object();
  }

  Json child(int victim, Failure failure) const {
    setenv("MONGO_STATE", path("state").c_str(), 1);
    InterruptWatch watch;
    test::FailingRunner runner(watch, victim, failure);
    SilentObserver observer;
    Json end;
    try {
      const RunRecord record = run_cell(cell(), {runner, watch, observer});
      end = {{"status", status_name(record.status)},
             {"reason", record.reason},
             {"exit", exit_status(record, watch)},
             {"major_minor", record.device.major_minor},
             {"passes", record.passes.size()}};
    } catch (const std::exception& error) {
      end = {{"thrown", error.what()}};
    }
    end["count"] = runner.count();
    end["programs"] = runner.names();
    end["left"] = left_in_process();
    end["notes"] = observer.notes;
    return end;
  }

  std::string given_;
};

TEST_P(FailingRunner, EveryProgramInEveryWay) {
  for (const Failure failure : {Failure::refused, Failure::not_started, Failure::reported, Failure::signalled}) {
    int victim = 1;
    for (; victim < 20; ++victim) {
      const Json end = run_failing(victim, failure);
      SCOPED_TRACE(std::string(name_of(failure)) + ", program " + std::to_string(victim) + ": " + end.dump());
      ASSERT_TRUE(end.contains("left"));
      EXPECT_EQ(end.at("left"), "");
      EXPECT_EQ(left_afterwards(end), "");
      if (victim == 1 && end.contains("thrown")) {
        // Asking for mkfs's version: nothing has been touched yet, so there is no record, only the reason.
        const std::string thrown = end.at("thrown");
        EXPECT_TRUE(failure == Failure::signalled || failure == Failure::not_started);
        EXPECT_NE(thrown.find(failure == Failure::signalled ? "SIGTERM" : "made to fail"), std::string::npos);
        continue;
      }
      ASSERT_TRUE(end.contains("status"));
      if (end.at("count") < victim) {
        EXPECT_EQ(end.at("status"), "ok") << "nothing went wrong in it";
        EXPECT_EQ(end.at("passes"), 2);
        break;
      }
      const std::string reason = end.at("reason");
      if (failure == Failure::signalled) {
        EXPECT_EQ(end.at("status"), "interrupted");
        EXPECT_EQ(end.at("exit"), 128 + SIGTERM);
        EXPECT_NE(reason.find("SIGTERM"), std::string::npos);
      } else if (victim == 1 && failure != Failure::not_started) {
        // A run can do without the version.
        EXPECT_EQ(end.at("status"), "ok");
      } else {
        EXPECT_EQ(end.at("status"), "failed");
        EXPECT_EQ(end.at("exit"), 1);
        EXPECT_NE(reason.find("made to fail"), std::string::npos);
        EXPECT_NE(reason.find(end.at("programs").back().get<std::string>()), std::string::npos) << "names the program";
        EXPECT_EQ(end.at("count"), victim) << "a failure ends the run";
      }
      EXPECT_EQ(reason.find("not undone"), std::string::npos);
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_EQ(victim, 4) << "one question for the version and two formats, and then a run without a failure";
  }
}

TEST_P(FailingRunner, TheNextRunSucceeds) {
  for (const Failure failure : {Failure::reported, Failure::signalled}) {
    for (int victim = 1; victim <= 3; ++victim) {
      run_failing(victim, failure);
      const CommandResult next = mongo_run(GetParam().type, given_, {"--profile", "smoke", "--phases", "create"});
      EXPECT_EQ(next.exit_status, 0) << name_of(failure) << ", program " << victim << ": " << next.err;
      EXPECT_EQ(next.err.find("left by a killed run"), std::string::npos) << next.err;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, FailingRunner,
                         ::testing::Values(TypeAndDevice{"ext2", 64, false}, TypeAndDevice{"ext3", 64, true},
                                           TypeAndDevice{"ext4", 64, false}, TypeAndDevice{"ext4", 64, true},
                                           TypeAndDevice{"xfs", 320, false}, TypeAndDevice{"btrfs", 160, true}),
                         [](const auto& test) {
                           return std::string(test.param.type) + (test.param.in_memory ? "InMemory" : "OnADevice");
                         });

}  // namespace
}  // namespace mongo
