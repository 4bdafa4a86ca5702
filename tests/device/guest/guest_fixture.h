#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "harness/core/descriptor.h"
#include "harness/guest/uml.h"
#include "tests/support/device_fixture.h"

namespace mongo::test {

/// Guests whose init is guest_probe. Each gets the test's folder as a word that it does not look at, by which all its
/// processes are found.
class GuestTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    for (const char* name : {"out", "home", "tmp"}) fs::create_directory(path(name));
    if (const auto why = why_no_guest()) GTEST_SKIP() << *why;
  }

  void TearDown() override {
    if (!folder_.empty()) {
      EXPECT_TRUE(all_ended());
      EXPECT_TRUE(fs::is_empty(path("home"))) << "something was left in $HOME";
      EXPECT_TRUE(fs::is_empty(path("tmp"))) << "something was left in $TMPDIR";
    }
    DeviceTest::TearDown();
  }

  GuestRequest request(std::vector<std::string> arguments, const std::string& node = "") {
    GuestRequest request;
    request.device = node;
    request.folder = path("out");
    request.arguments = std::move(arguments);
    request.arguments.push_back(folder_);
    request.program = MONGO_GUEST_PROBE;
    request.memory_mib = 128;
    request.deadline = std::chrono::minutes(1);
    request.on_line = [this](const std::string& line, pid_t) { told_.push_back(line); };
    return request;
  }

  GuestResult run_probe(std::vector<std::string> arguments, const std::string& node = "") {
    return run_guest(request(std::move(arguments), node), watch_);
  }

  /// A process of its own that runs a guest.
  pid_t start_tool(std::vector<std::string> arguments, const std::string& node = "",
                   const std::string& filesystem = "") {
    std::vector<std::string> argv{MONGO_GUEST_PROBE, path("out"), node, filesystem};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    argv.push_back(folder_);
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    output_ = Descriptor(ends[0]);
    const Descriptor writing(ends[1]);
    const pid_t pid = fork();
    if (pid == 0) {
      dup2(writing.get(), 1);
      dup2(writing.get(), 2);
      setenv("HOME", path("home").c_str(), 1);
      setenv("TMPDIR", path("tmp").c_str(), 1);
      std::vector<char*> pointers;
      for (std::string& word : argv) pointers.push_back(word.data());
      pointers.push_back(nullptr);
      execv(pointers[0], pointers.data());
      _exit(127);
    }
    return pid;
  }

  /// Reads the tool's output until a text comes or the output ends.
  std::string read_until(const std::string& text) {
    std::string read_text;
    pollfd fd{output_.get(), POLLIN, 0};
    char buffer[4096];
    while ((text.empty() || read_text.find(text) == std::string::npos) && poll(&fd, 1, 60'000) > 0) {
      const ssize_t size = read(output_.get(), buffer, sizeof buffer);
      if (size <= 0) break;
      read_text.append(buffer, static_cast<std::size_t>(size));
    }
    return read_text;
  }

  /// The exit status, or minus the signal.
  static int wait_for(pid_t pid) {
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }

  /// All processes that know of the test's folder and are called so; ascending.
  std::vector<pid_t> processes(const std::string& name = "") const {
    std::vector<pid_t> found;
    for (fs::directory_iterator entry("/proc"), end; entry != end; ++entry) {
      const std::string pid = entry->path().filename().string();
      if (pid.find_first_not_of("0123456789") != std::string::npos || std::stoi(pid) == getpid()) continue;
      if (slurp("/proc/" + pid + "/cmdline").find(folder_) == std::string::npos) continue;
      if (name.empty() || slurp("/proc/" + pid + "/comm") == name + "\n") found.push_back(std::stoi(pid));
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  /// After a kill the kernel needs a moment.
  bool all_ended() const {
    for (int i = 0; i < 200; ++i) {
      if (processes().empty()) return true;
      usleep(50'000);
    }
    return false;
  }

  InterruptWatch watch_;
  std::vector<std::string> told_;
  Descriptor output_;
};

}  // namespace mongo::test
