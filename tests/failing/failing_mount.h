#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace mongo::test {

/// failing_fs (failing_fs.cpp), mounted at a folder for as long as this lives.
class FailingMount {
 public:
  /// Throws std::runtime_error.
  FailingMount(const std::string& program, std::string point, const std::vector<std::string>& words = {})
      : point_(std::move(point)) {
    int input[2], output[2];
    if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    std::vector<char*> argv{const_cast<char*>(program.c_str()), point_.data()};
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    server_ = fork();
    if (server_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      dup2(input[0], STDIN_FILENO);
      dup2(output[1], STDOUT_FILENO);
      execv(argv[0], argv.data());
      _exit(127);
    }
    close(input[0]);
    close(output[1]);
    input_ = input[1];
    char ready = 0;
    const bool mounted = server_ > 0 && read(output[0], &ready, 1) == 1;
    close(output[0]);
    if (!mounted) {
      end();
      throw std::runtime_error("failing_fs could not be mounted");
    }
  }
  ~FailingMount() { end(); }
  FailingMount(const FailingMount&) = delete;
  FailingMount& operator=(const FailingMount&) = delete;

  pid_t server() const { return server_; }

  /// From now on this is what goes wrong, counted from here, and nothing else.
  void obey(const std::string& rule = "") {
    const std::string lines = "clear\n" + (rule.empty() ? "" : rule + "\n");
    EXPECT_EQ(write(input_, lines.data(), lines.size()), static_cast<ssize_t>(lines.size()));
  }

 private:
  void end() {
    // First the end of the server: what still waits for its answers is let go by that, whatever the rules say.
    if (input_ >= 0) close(input_);
    if (server_ > 0 && !ended(100)) {
      kill(server_, SIGKILL);
      ended(1000);
    }
    // The server has done it, unless it was killed.
    while (umount2(point_.c_str(), MNT_DETACH) == 0) {
    }
  }

  /// Waits for the server's end, in steps of 20 ms.
  bool ended(int steps) const {
    for (int i = 0; i < steps; ++i) {
      if (waitpid(server_, nullptr, WNOHANG) != 0) return true;
      usleep(20'000);
    }
    return false;
  }

  std::string point_;
  pid_t server_ = -1;
  int input_ = -1;
};

/// A mount namespace of its own for the rest of this process: nobody else sees its mounts, and they cannot outlive it.
inline bool leave_mount_namespace() {
  return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

}  // namespace mongo::test
