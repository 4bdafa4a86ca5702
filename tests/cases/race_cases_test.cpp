// Field cases about time: two runs at once, and devices that are taken or renamed in the middle of a run.
#include <signal.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include <atomic>

#include "tests/cases/mongo_fixture.h"
#include "tests/support/child.h"

namespace mongo {
namespace {

using namespace std::chrono_literals;
using test::Json;
using test::MiB;

class RaceCases : public test::MongoTest {
 protected:
  struct Started {
    pid_t pid = -1;
    std::string messages;  // file
    int wait() const { return test::wait_a_minute_for(pid); }
  };

  /// Starts mongo at once, or as soon as the gate is open.
  Started start(Arguments arguments, const std::atomic<bool>* gate = nullptr) {
    Started started;
    started.messages = path("messages" + std::to_string(count_++));
    arguments.insert(arguments.begin(), MONGO_PROGRAM);
    started.pid = test::start_program(std::move(arguments), [&] {
      const int file = open(started.messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
      dup2(file, STDERR_FILENO);
      dup2(open("/dev/null", O_RDWR), STDOUT_FILENO);
      while (gate != nullptr && !gate->load()) {
      }
    });
    return started;
  }

  std::string messages(const Started& started) const { return slurp(started.messages); }

  /// Waits until the process has, or no longer has, a mount on point(), in its own mount namespace.
  bool sees_mount(pid_t pid, bool there) const {
    for (int i = 0; i < 100'000; ++i) {
      const std::string mounts = slurp("/proc/" + std::to_string(pid) + "/mountinfo");
      if (mounts.empty()) return false;
      if ((mounts.find(" " + point() + " ") != std::string::npos) == there) return true;
      usleep(200);
    }
    return false;
  }

  static double seconds_of(const Json& record, const char* field) {
    double sum = 0;
    for (const Json& pass : record.at("passes")) {
      for (const Json& phase : pass.at("phases")) sum += phase.at(field).is_null() ? 0 : phase.at(field).get<double>();
    }
    return sum;
  }

  int count_ = 0;
};

TEST_F(RaceCases, TwoNamesOfOneDeviceFiftyTimes) {
  const std::string node = device(128 * MiB);
  test::fs::create_symlink(node, path("link"));
  struct stat info {};
  ASSERT_EQ(stat(node.c_str(), &info), 0);
  ASSERT_EQ(mknod(path("alias").c_str(), S_IFBLK | 0600, info.st_rdev), 0);
  void* memory = mmap(nullptr, sizeof(std::atomic<bool>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* gate = new (memory) std::atomic<bool>(false);
  for (int round = 0; round < 50; ++round) {
    const auto run_as = [&](const std::string& name) {
      // Repetitions, so that the winner is still at work when the other one comes late on a busy machine.
      return start({"run", "ext4", path(name), path("mnt-" + name), name, "1", "--profile", "smoke", "--phases",
                    "create", "--repetitions", "4", "--results", results()},
                   gate);
    };
    gate->store(false);
    const Started link = run_as("link"), alias = run_as("alias");
    std::this_thread::sleep_for(5ms);
    gate->store(true);
    const int link_status = link.wait(), alias_status = alias.wait();
    const std::string text = "round " + std::to_string(round) + ": " + messages(link) + messages(alias);
    ASSERT_TRUE((link_status == 0 && alias_status == 3) || (link_status == 3 && alias_status == 0))
        << link_status << " and " << alias_status << ", " << text;
    const Started &winner = link_status == 0 ? link : alias, &loser = link_status == 0 ? alias : link;
    EXPECT_NE(messages(loser).find("pid " + std::to_string(winner.pid)), std::string::npos) << text;
    EXPECT_FALSE(test::fs::exists(path("mnt-link"))) << text;
    EXPECT_FALSE(test::fs::exists(path("mnt-alias"))) << text;
  }
  munmap(memory, sizeof(std::atomic<bool>));
  EXPECT_FALSE(test::fs::exists("/run/lock/mongo/" + std::to_string(major(info.st_rdev)) + "-" +
                                std::to_string(minor(info.st_rdev))));
}

TEST_F(RaceCases, SomebodyProbesTheDeviceAfterTheFirstPass) {
  const std::string node = device(512 * MiB);
  const Started run = start(
      {"run", "ext4", node, point(), "log", "1", "--phases", "create", "--repetitions", "1", "--results", results()});
  ASSERT_TRUE(sees_mount(run.pid, true)) << messages(run);
  // As long as it is mounted this fails; the first success is right after the unmount.
  int held = -1;
  for (int i = 0; i < 10'000'000 && held < 0 && kill(run.pid, 0) == 0; ++i) {
    held = open(node.c_str(), O_RDONLY | O_EXCL | O_CLOEXEC);
  }
  ASSERT_GE(held, 0);
  std::this_thread::sleep_for(300ms);
  close(held);
  EXPECT_EQ(run.wait(), 0) << messages(run);
  const Json record = last_record();
  ASSERT_EQ(record.at("status"), "ok") << record.at("reason");
  // Seen before a step the device is waited for; in the middle of one, the step is done again.
  double waited = 0, wait = 0;
  int attempts = 0;
  for (const Json& note : record.at("notes")) {
    const std::string text = note;
    const bool is_wait = sscanf(text.c_str(), "waited %lf s", &wait) == 1;
    if (is_wait) waited += wait;
    if (is_wait || sscanf(text.c_str(), "%d attempts", &attempts) == 1) {
      EXPECT_NE(text.find(node), std::string::npos) << text;
    }
  }
  EXPECT_TRUE(waited >= 0.2 || attempts > 1) << record.at("notes");
  EXPECT_LT(waited, 5) << record.at("notes");
}

/// The same with a wait so long that no phase of a few files could hide it.
TEST_F(RaceCases, AWaitIsInNoTime) {
  const std::string node = device(512 * MiB);
  const Started run = start(
      {"run", "ext4", node, point(), "log", "1", "--phases", "create", "--repetitions", "1", "--results", results()});
  ASSERT_TRUE(sees_mount(run.pid, true)) << messages(run);
  int held = -1;
  while (held < 0 && kill(run.pid, 0) == 0) held = open(node.c_str(), O_RDONLY | O_EXCL | O_CLOEXEC);
  ASSERT_GE(held, 0);
  std::this_thread::sleep_for(8s);
  close(held);
  EXPECT_EQ(run.wait(), 0) << messages(run);
  const Json record = last_record();
  EXPECT_NE(record.at("notes").dump().find("waited "), std::string::npos) << record.at("notes");
  for (std::size_t i = 0; i < record.at("passes").size(); ++i) {
    EXPECT_LT(record.at("passes")[i].at("mkfs_seconds").get<double>(), 7);
    EXPECT_LT(phase(record, "create", i).at("seconds").get<double>(), 7);
    EXPECT_LT(phase(record, "create", i).at("sync_seconds").get<double>(), 7);
  }
}

/// Programs that look at devices, such as multipathd and mdadm, open one exclusively for a moment whenever it changes.
TEST_F(RaceCases, ShortProbesAllTheTime) {
  const std::string node = device(320 * MiB);
  for (const char* type : {"ext4", "xfs", "btrfs"}) {
    for (int round = 0; round < 5; ++round) {
      const Started run = start(
          {"run", type, node, point(), "log", "1", "--profile", "smoke", "--phases", "create", "--results", results()});
      int held = 0, status = -1;
      while (waitpid(run.pid, &status, WNOHANG) == 0) {
        const int fd = open(node.c_str(), O_RDONLY | O_EXCL | O_CLOEXEC);
        if (fd >= 0) {
          ++held;
          std::this_thread::sleep_for(2ms);
          close(fd);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5 + 3 * round * round));
      }
      EXPECT_TRUE(WIFEXITED(status));
      EXPECT_EQ(WEXITSTATUS(status), 0) << type << ", held " << held << " times: " << messages(run);
      EXPECT_GT(held, 0);
      expect_nothing_left();
    }
  }
}

TEST_F(RaceCases, ANameThatMovesToAnotherDevice) {
  const std::string first = device(512 * MiB), second = device(512 * MiB);
  const std::string before = fingerprint(second);
  test::fs::create_symlink(first, path("disk"));
  const Started run = start({"run", "ext4", path("disk"), point(), "log", "1", "--phases", "create", "--repetitions",
                             "1", "--results", results()});
  ASSERT_TRUE(sees_mount(run.pid, true)) << messages(run);
  test::fs::create_symlink(second, path("disk.new"));
  test::fs::rename(path("disk.new"), path("disk"));
  EXPECT_EQ(run.wait(), 1) << messages(run);
  EXPECT_TRUE(fingerprint(second) == before) << "written to";
  for (const std::string& node : {first, second}) {
    struct stat info {};
    ASSERT_EQ(stat(node.c_str(), &info), 0);
    const std::string number = std::to_string(major(info.st_rdev)) + ":" + std::to_string(minor(info.st_rdev));
    EXPECT_NE(messages(run).find(number), std::string::npos) << number << " in: " << messages(run);
  }
  EXPECT_NE(messages(run).find(path("disk")), std::string::npos) << messages(run);
  const Json record = last_record();
  EXPECT_EQ(record.at("status"), "failed");
  EXPECT_EQ(record.at("passes").size(), 1U);
  EXPECT_EQ(record.at("device").at("given"), path("disk"));
  EXPECT_EQ(record.at("device").at("resolved"), first);
  expect_nothing_left();
}

}  // namespace
}  // namespace mongo
