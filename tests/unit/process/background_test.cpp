#include "harness/process/background.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "harness/core/errors.h"

namespace mongo {
namespace {

using namespace std::chrono_literals;

bool eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 1000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

TEST(BackgroundProcess, RunsBesideAndKeepsWhatItSays) {
  BackgroundProcess process({"sh", "-c", "echo out; echo err >&2; pwd; echo $LC_ALL; exec sleep 60"});
  EXPECT_TRUE(eventually([&] { return process.output() == "out\nerr\n/\nC\n"; })) << process.output();
  EXPECT_FALSE(process.ended());
  EXPECT_EQ(getpgid(process.pid()), process.pid()) << "Ctrl-C must not reach it";
  const auto status = process.end(SIGTERM, 10s);
  ASSERT_TRUE(status);
  EXPECT_TRUE(WIFSIGNALED(*status));
  EXPECT_EQ(WTERMSIG(*status), SIGTERM);
  EXPECT_EQ(process.end(SIGTERM, 10s), status) << "a second time";
}

TEST(BackgroundProcess, HasNoStdin) {
  BackgroundProcess process({"sh", "-c", "read line || echo none"});
  EXPECT_TRUE(eventually([&] { return process.ended().has_value(); }));
  EXPECT_EQ(process.output(), "none\n");
  EXPECT_EQ(WEXITSTATUS(*process.ended()), 0);
}

TEST(BackgroundProcess, OneThatDoesNotEndIsKilled) {
  BackgroundProcess process({"sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done"});
  ASSERT_TRUE(eventually([&] { return process.output() == "ready\n"; }));
  const auto status = process.end(SIGTERM, 100ms);
  ASSERT_TRUE(status);
  EXPECT_EQ(WTERMSIG(*status), SIGKILL);
}

TEST(BackgroundProcess, OneThatCannotBeStartedSaysWhy) {
  try {
    BackgroundProcess process({"mongo-no-such-program"});
    FAIL() << "started";
  } catch (const RunError& error) {
    EXPECT_EQ(error.step(), "exec");
    EXPECT_NE(std::string(error.what()).find("no such program"), std::string::npos) << error.what();
  }
}

TEST(BackgroundProcess, IsGoneWithItsObject) {
  pid_t pid = 0;
  {
    BackgroundProcess process({"sleep", "60"});
    pid = process.pid();
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_EQ(kill(pid, 0), -1);
}

TEST(BackgroundProcess, DiesWithTheProcessThatStartedIt) {
  int report[2];
  ASSERT_EQ(pipe(report), 0);
  const pid_t child = fork();
  if (child == 0) {
    auto* process = new BackgroundProcess({"sleep", "60"});  // never deleted: SIGKILL runs no destructor
    const pid_t pid = process->pid();
    if (write(report[1], &pid, sizeof pid) != sizeof pid) _exit(1);
    pause();
  }
  pid_t pid = 0;
  ASSERT_EQ(read(report[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  close(report[0]);
  close(report[1]);
  EXPECT_EQ(kill(pid, 0), 0);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  // Where nobody reaps orphans it stays a zombie.
  EXPECT_TRUE(eventually([&] {
    if (kill(pid, 0) != 0) return true;
    char path[64], state[256] = {};
    std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE* file = fopen(path, "re");
    if (file == nullptr) return true;
    const bool read_it = fgets(state, sizeof state, file) != nullptr;
    fclose(file);
    return read_it && std::string(state).find(") Z") != std::string::npos;
  }));
}

}  // namespace
}  // namespace mongo
