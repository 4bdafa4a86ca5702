#include <sys/utsname.h>

#include "harness/core/errors.h"
#include "tests/device/guest/guest_fixture.h"

namespace mongo::test {
namespace {

TEST_F(GuestTest, Ok) {
  const GuestResult result = run_probe({"ok"});
  EXPECT_TRUE(result.ok()) << result.failure << result.console;
  EXPECT_EQ(told_, std::vector<std::string>{"started ok"});
  EXPECT_GT(result.seconds, 0);
  EXPECT_GT(result.cpu_user_seconds + result.cpu_system_seconds, 0.1);
  EXPECT_FALSE(guest_version().empty());
}

TEST_F(GuestTest, TheWorkFails) {
  EXPECT_EQ(run_probe({"status", "7"}).failure, "the work in the guest ended with status 7");
  EXPECT_EQ(run_probe({"fail", "mem=1 is \"no\"\tanswer"}).failure, "mem=1 is \"no\"\\x09answer");
  EXPECT_EQ(run_probe({"crash"}).failure, "the work in the guest was ended by signal 11 (Segmentation fault)");
  // An old status does not count.
  EXPECT_EQ(run_probe({"panic"}).failure, "the guest's kernel panicked: sysrq triggered crash");
}

TEST_F(GuestTest, InitEnds) {
  GuestRequest leave = request({});
  leave.arguments = {"leave", folder_};
  const GuestResult result = run_guest(leave, watch_);
  EXPECT_EQ(result.failure, "the guest's kernel panicked: Attempted to kill init! exitcode=0x00000300");
  EXPECT_NE(result.console.find("Call Trace"), std::string::npos);
}

TEST_F(GuestTest, AnInitThatIsNoProgram) {
  GuestRequest bad = request({"ok"});
  bad.program = image("no program", 100);
  EXPECT_THROW(run_guest(bad, watch_), RunError);
  fs::permissions(bad.program, fs::owner_all);
  EXPECT_NE(run_guest(bad, watch_).failure.find("panicked: Requested init " + bad.program + " failed (error -8)"),
            std::string::npos);
}

TEST_F(GuestTest, ItHangs) {
  GuestRequest hang = request({"hang"});
  hang.deadline = std::chrono::seconds(5);
  const GuestResult result = run_guest(hang, watch_);
  EXPECT_EQ(result.failure.find("the guest did not end within 5 s and was killed"), 0U) << result.failure;
  EXPECT_EQ(told_, std::vector<std::string>{"started hang"});
  EXPECT_NEAR(result.seconds, 5, 1);
  EXPECT_TRUE(processes().empty());
}

TEST_F(GuestTest, WritesOnlyIntoTheFolder) {
  fs::create_directory(path("a folder, with: \"signs\""));
  GuestRequest write = request({"write", "a file", "text = 1", folder_});
  write.folder = path("a folder, with: \"signs\"");
  const GuestResult result = run_guest(write, watch_);
  EXPECT_TRUE(result.ok()) << result.failure << result.console;
  EXPECT_EQ(slurp(write.folder + "/a file"), "text = 1");
  EXPECT_FALSE(fs::exists(path("made")));
  std::size_t files = 0;
  for (fs::directory_iterator entry(write.folder), end; entry != end; ++entry) ++files;
  EXPECT_EQ(files, 2U) << "with the status";
}

TEST_F(GuestTest, CpuOfAllProcesses) {
  GuestRequest burn = request({"burn", "1"});
  GuestCpu before, after;
  burn.on_line = [&](const std::string& line, pid_t guest) {
    (line == "burnt" ? after : before) = read_guest_cpu(guest);
  };
  const GuestResult result = run_guest(burn, watch_);
  ASSERT_TRUE(result.ok()) << result.failure;
  EXPECT_GT(before.seconds(), 0.1) << "the boot";
  // The guest counts as its own time what the host gives to others.
  const std::optional<double> used = cpu_between(before, after);
  ASSERT_TRUE(used.has_value());
  EXPECT_GT(*used, 0.1);
  EXPECT_LE(*used, after.last_second - before.first_second) << "one CPU";
  EXPECT_NEAR(result.cpu_user_seconds + result.cpu_system_seconds, after.seconds(), 0.3) << "what is left is the end";
  EXPECT_TRUE(read_guest_cpu(getpid()).seconds_of.empty()) << "no guest";
  EXPECT_FALSE(cpu_between(GuestCpu(), GuestCpu()).has_value());
}

TEST_F(GuestTest, WhatLinuxUmlMayDo) {
  const pid_t tool = start_tool({"hang"});
  read_until("started");
  const std::vector<pid_t> programs = processes("linux.uml");
  ASSERT_FALSE(programs.empty());
  for (const pid_t pid : programs) {
    const std::string status = slurp("/proc/" + std::to_string(pid) + "/status");
    const std::string cpus = status.substr(status.find("Cpus_allowed_list:\t") + 19);
    EXPECT_EQ(cpus.substr(0, cpus.find('\n')).find_first_of(",-"), std::string::npos) << "more than one CPU";
    // CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_SYS_PTRACE
    EXPECT_NE(status.find("CapEff:\t000000000008000e"), std::string::npos) << status;
  }
  utsname kernel{};
  uname(&kernel);
  if (std::atof(kernel.release) >= 6) {
    // As the guest sees the host: on the root's file system, and on one that is mounted below.
    for (const std::string& place : {path("made"), std::string("/dev/made-by-a-guest")}) {
      const std::string seen = "/proc/" + std::to_string(programs[0]) + "/root" + place;
      const Descriptor made(open(seen.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
      EXPECT_EQ(made ? 0 : errno, EROFS) << place;
    }
  }
  kill(tool, SIGINT);
  EXPECT_EQ(wait_for(tool), 130);
  EXPECT_TRUE(processes().empty()) << "all is gone when the tool ends";
}

TEST_F(GuestTest, WhatCannotBeMeant) {
  GuestRequest bad = request({"ok"});
  bad.folder = path("nowhere");
  EXPECT_THROW(run_guest(bad, watch_), RunError);
  bad = request({"ok"}, "/dev/nothing");
  EXPECT_THROW(run_guest(bad, watch_), RunError);
  bad = request({std::string(5000, 'x')});
  EXPECT_THROW(run_guest(bad, watch_), RunError);
  bad = request({"ok"});
  bad.memory_mib = 1u << 30;
  EXPECT_THROW(run_guest(bad, watch_), RunError);
  bad = request({"ok"});
  bad.on_line = [](const std::string&, pid_t) { throw std::runtime_error("no more"); };
  EXPECT_THROW(run_guest(bad, watch_), std::runtime_error);
  EXPECT_TRUE(processes().empty());
}

}  // namespace
}  // namespace mongo::test
