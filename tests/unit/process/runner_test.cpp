#include "harness/process/runner.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "harness/core/errors.h"
#include "harness/core/quote.h"

namespace mongo {
namespace {

using namespace std::chrono_literals;

CommandResult run(std::vector<std::string> argv, std::chrono::milliseconds deadline = 10s) {
  RealRunner runner;
  return runner.run({std::move(argv), deadline});
}

TEST(RealRunner, KeepsOutputsAndStatusApart) {
  const CommandResult result = run({"sh", "-c", "echo out; echo err >&2; exit 9"});
  EXPECT_EQ(result.exit_status, 9);
  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_FALSE(result.ok());
  EXPECT_GT(result.seconds.count(), 0);
}

TEST(RealRunner, TellsSignalNineFromExitNine) {
  const CommandResult result = run({"sh", "-c", "kill -9 $$"});
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_FALSE(result.ok());
}

TEST(RealRunner, GivesWordsAsTheyAre) {
  const CommandResult result = run({"printf", "%s|", "a b", "$HOME", "*", "", "'"});
  EXPECT_EQ(result.out, "a b|$HOME|*||'|");
}

TEST(RealRunner, ChildHasNoStdinAndTheCLocaleAndRunsInRoot) {
  setenv("LC_ALL", "de_DE.UTF-8", 1);
  setenv("LANGUAGE", "de", 1);
  const CommandResult result = run({"sh", "-c", "cat; echo \"$LC_ALL/$LANGUAGE/$(pwd)\""});
  EXPECT_EQ(result.out, "C///\n");
  unsetenv("LC_ALL");
  unsetenv("LANGUAGE");
}

TEST(RealRunner, DeadlineEndsTheProgramAndItsChildren) {
  const auto start = std::chrono::steady_clock::now();
  const CommandResult result = run({"sh", "-c", "sleep 60 & sleep 60"}, 200ms);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
}

TEST(RealRunner, DoesNotWaitForAGrandchildThatKeepsThePipe) {
  const auto start = std::chrono::steady_clock::now();
  const CommandResult result = run({"sh", "-c", "sleep 5 & echo done"});
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.out, "done\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, 3s);
}

TEST(RealRunner, WhatItLeavesInTheBackgroundEndsWithIt) {
  const CommandResult result = run({"sh", "-c", "sleep 4711 & echo $!"});
  ASSERT_TRUE(result.ok());
  const int pid = std::stoi(result.out);
  for (int i = 0; i < 100 && kill(pid, 0) == 0; ++i) usleep(10'000);
  std::ifstream state("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(state)), {});
  EXPECT_TRUE(text.empty() || text.find(") Z") != std::string::npos) << text;
}

TEST(RealRunner, LargeOutputDoesNotBlock) {
  const CommandResult result = run({"sh", "-c", "head -c 5000000 /dev/zero; head -c 5000000 /dev/zero >&2"});
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.out.size(), 1U << 20);
  EXPECT_EQ(result.err.size(), 1U << 20);
}

TEST(RealRunner, NamesAProgramThatCannotBeStarted) {
  for (const char* name : {"no-such-program-here", "/no/such/program", "/tmp"}) {
    try {
      run({name});
      FAIL() << name;
    } catch (const RunError& error) {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
  }
  char path[] = "/tmp/mongo-test-XXXXXX";
  const int fd = mkstemp(path);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(write(fd, "\x7f\x45LF bad", 8), 8);
  fchmod(fd, 0755);
  close(fd);
  EXPECT_THROW(run({path}), RunError);
  unlink(path);
}

TEST(RealRunner, ASignalEndsAWatchedProgram) {
  InterruptWatch watch;
  RealRunner runner(&watch);
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child == 0) {
    usleep(200'000);
    kill(self, SIGTERM);
    _exit(0);
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(runner.run({{"sleep", "60"}, 60s}), Interrupted);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
  EXPECT_THROW(runner.run({{"true"}, 60s}), Interrupted) << "nothing new is begun";
  EXPECT_TRUE(RealRunner().run({{"true"}, 60s}).ok()) << "undoing still works";
}

TEST(RealRunner, ChildHasDefaultSignals) {
  InterruptWatch watch;  // ignores SIGPIPE
  const CommandResult result = RealRunner(&watch).run({{"sh", "-c", "kill -PIPE $$; echo survived"}, 10s});
  EXPECT_EQ(result.signal, SIGPIPE);
}

TEST(RealRunner, ManyRunsLeaveNoDescriptorAndNoChild) {
  const auto open_files = [] {
    int count = 0;
    for (int fd = 0; fd < 256; ++fd) count += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    return count;
  };
  const int before = open_files();
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(run({"true"}).ok());
  EXPECT_EQ(open_files(), before);
}

TEST(UsefulLine, IsTheReasonAndNotTheUsage) {
  CommandResult xfs;
  xfs.err =
      "Filesystem must be larger than 300MB.\nUsage: mkfs.xfs\n/* blocksize */\t\t[-b size=num]\n      devicename\n";
  EXPECT_EQ(useful_line(xfs), "Filesystem must be larger than 300MB.");
  CommandResult btrfs;
  btrfs.out = "btrfs-progs v6.2\n";
  btrfs.err = "ERROR: '/dev/loop0' is too small to make a usable filesystem\nERROR: minimum size is 114294784\n\n";
  EXPECT_EQ(useful_line(btrfs), "ERROR: minimum size is 114294784");
  CommandResult broken_lines;
  broken_lines.err =
      "/dev/loop0: inode_size (128) * inodes_count (16) too big for a\n\tfilesystem with 8 blocks, specify higher "
      "inode_ratio "
      "(-i)\n\tor lower inode count (-N).\n\n";
  EXPECT_EQ(useful_line(broken_lines),
            "/dev/loop0: inode_size (128) * inodes_count (16) too big for a filesystem with 8 blocks, specify higher "
            "inode_ratio "
            "(-i) or lower inode count (-N).");
  CommandResult quiet;
  EXPECT_EQ(useful_line(quiet), "");
}

TEST(RunChecked, TellsTheStepTheStatusTheReasonAndTheCommand) {
  RealRunner runner;
  try {
    run_checked(runner, {{"sh", "-c", "echo broken >&2; exit 3"}, 10s}, "mkfs");
    FAIL();
  } catch (const RunError& error) {
    EXPECT_EQ(error.step(), "mkfs");
    EXPECT_STREQ(error.what(),
                 "mkfs: failed with exit status 3: broken. The command was: sh -c 'echo broken >&2; exit 3'");
  }
}

TEST(QuoteArgv, AShellReadsTheSameWords) {
  const std::vector<std::string> words{"a", "", "b c", "it's", "$x", "-o", "k=v,w", "\\", "*"};
  std::vector<std::string> argv{"sh", "-c", "for w in " + quote_argv(words) + "; do printf '%s|' \"$w\"; done"};
  EXPECT_EQ(run(argv).out, "a||b c|it's|$x|-o|k=v,w|\\|*|");
}

TEST(FindProgram, SaysWhereItLooked) {
  const std::string path = getenv("PATH");
  setenv("PATH", "/no/such:/nor/this", 1);
  EXPECT_EQ(not_found_text("mkfs.x"),
            "the program mkfs.x is not in PATH (/no/such:/nor/this), /usr/local/sbin, /usr/sbin or /sbin");
  unsetenv("PATH");
  EXPECT_EQ(not_found_text("mkfs.x"),
            "the program mkfs.x is not in PATH (/usr/bin:/bin), /usr/local/sbin, /usr/sbin or /sbin");
  setenv("PATH", path.c_str(), 1);
}

TEST(FindProgram, TakesNothingFromTheCurrentFolder) {
  const std::string path = getenv("PATH");
  setenv("PATH", ":.", 1);
  EXPECT_EQ(find_program("Makefile"), "");
  EXPECT_EQ(find_program("sh"), "");
  setenv("PATH", path.c_str(), 1);
  EXPECT_FALSE(find_program("sh").empty());
}

}  // namespace
}  // namespace mongo
