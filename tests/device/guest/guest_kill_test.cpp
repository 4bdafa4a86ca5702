#include <random>
#include <thread>

#include "tests/device/guest/guest_fixture.h"

// Who is killed, and what is left: nothing.

namespace mongo::test {
namespace {

class GuestKill : public GuestTest {
 protected:
  /// linux.uml's first process, which traces those of the guest.
  pid_t main_process() const {
    const std::vector<pid_t> programs = processes("linux.uml");
    return programs.empty() ? -1 : programs.front();
  }
};

TEST_F(GuestKill, LinuxUmlAlone) {
  const pid_t tool = start_tool({"spin"});
  read_until("started");
  ASSERT_GT(processes("linux.uml").size(), 4U);
  kill(main_process(), SIGKILL);
  EXPECT_EQ(wait_for(tool), 1);
  EXPECT_TRUE(processes().empty());
  const std::string output = read_until("");
  EXPECT_NE(output.find("the guest was ended by signal 9 (Killed)"), std::string::npos) << output;
}

TEST_F(GuestKill, TheKeeper) {
  const pid_t tool = start_tool({"spin"});
  read_until("started");
  const std::vector<pid_t> keepers = processes("mongo-guest");
  ASSERT_EQ(keepers.size(), 1U);
  kill(keepers[0], SIGKILL);
  EXPECT_EQ(wait_for(tool), 1);
  EXPECT_TRUE(processes().empty());
  const std::string output = read_until("");
  EXPECT_NE(output.find("the guest was killed"), std::string::npos) << output;
}

TEST_F(GuestKill, AProcessOfTheGuest) {
  const pid_t tool = start_tool({"spin"});
  read_until("started");
  kill(processes("linux.uml").back(), SIGKILL);
  EXPECT_EQ(wait_for(tool), 1);
  EXPECT_TRUE(processes().empty());
  const std::string output = read_until("");
  // What the guest's kernel makes of it depends on the moment: it sees its process gone, it fails to trace it and
  // panics, or, when the process was just being made, it waits for it for ever.
  const bool ended = output.find("the work in the guest was ended by signal") != std::string::npos;
  const bool panicked = output.find("the guest's kernel panicked: ") != std::string::npos;
  const bool hung = output.find("the guest did not end within 60 s and was killed") != std::string::npos;
  EXPECT_TRUE(ended || panicked || hung) << output;
}

TEST_F(GuestKill, TheToolAtAnyMoment) {
  const std::string node = device(64 * MiB);
  ASSERT_TRUE(run({"mkfs.ext4", "-q", node}).ok());
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(wait_for(start_tool({"count", "ext4", "50"}, node, "ext4")), 0);
  const std::chrono::microseconds whole =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start);
  const char* wanted = getenv("MONGO_GUEST_ROUNDS");
  const int rounds = wanted != nullptr ? std::atoi(wanted) : 10;
  std::mt19937 random(1);
  for (int i = 0; i < rounds; ++i) {
    const auto moment = std::uniform_int_distribution<long>(0, whole.count())(random);
    const pid_t tool = start_tool({i % 3 == 0 ? "spin" : "count", "ext4", "50"}, node, "ext4");
    std::this_thread::sleep_for(std::chrono::microseconds(moment));
    kill(tool, SIGKILL);
    wait_for(tool);
    ASSERT_TRUE(all_ended()) << moment << " us after the start";
    const Descriptor alone(open(node.c_str(), O_RDWR | O_EXCL | O_CLOEXEC));
    EXPECT_TRUE(alone) << "somebody has the device " << moment << " us after the start";
    EXPECT_TRUE(fs::is_empty(path("home")) && fs::is_empty(path("tmp")));
    for (fs::directory_iterator entry(path("out")), end; entry != end; ++entry) {
      EXPECT_TRUE(entry->path().filename().string().starts_with("status")) << entry->path();
    }
  }
  ASSERT_TRUE(run({"mkfs.ext4", "-q", "-F", node}).ok());
  const GuestResult result = run_probe({"count", "ext4", "50"}, node);
  EXPECT_TRUE(result.ok()) << result.failure << result.console;
}

TEST_F(GuestKill, InterruptedAtAnyMoment) {
  std::mt19937 random(2);
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGINT, SIGTERM}) {
    const pid_t tool = start_tool({"hang"});
    usleep(50'000);  // until main has its handlers
    std::this_thread::sleep_for(std::chrono::milliseconds(std::uniform_int_distribution<int>(0, 1500)(random)));
    kill(tool, signal_number);
    EXPECT_EQ(wait_for(tool), 128 + signal_number);
    EXPECT_TRUE(processes().empty());
  }
}

}  // namespace
}  // namespace mongo::test
