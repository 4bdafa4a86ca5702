#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace mongo::test {

/// Starts a program. in_child: what is done between fork and exec.
template <typename InChild>
pid_t start_program(std::vector<std::string> argv, const InChild& in_child) {
  std::vector<char*> pointers;
  for (std::string& word : argv) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  in_child();
  execv(pointers[0], pointers.data());
  _exit(127);
}

/// The exit status, or minus the signal; -1000 when it did not end in a minute, and was killed.
inline int wait_a_minute_for(pid_t pid) {
  for (int i = 0; i < 12'000; ++i) {
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    usleep(5'000);
  }
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  return -1000;
}

}  // namespace mongo::test
