// What mongo matrix answers to files and programs that it cannot take.
#include <sys/stat.h>

#include "tests/cases/matrix_fixture.h"

namespace mongo {
namespace {

using test::run;

class MatrixMessageCases : public test::MatrixTest {
 protected:
  /// Such a run asks for no root, formats nothing, and takes no time.
  std::string small(const std::string& more = "") const {
    test::fs::create_directory(path("dir"));
    std::ofstream(path("small.yaml")) << "device: none\nmount_point: " << path("dir")
                                      << "\ndefaults: {filesystem: dir, profile: smoke, phases: create" << more
                                      << "}\nmatrix: {processes: [1]}\n";
    return path("small.yaml");
  }
  CommandResult in_bash(const std::string& words) const {
    return run({"bash", "-c", std::string(MONGO_PROGRAM) + " matrix " + words});
  }
};

TEST_F(MatrixMessageCases, ASignalEndsTheWaitForAFifo) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  for (const bool writer : {false, true}) {
    const int open_for_writing = writer ? open(path("fifo").c_str(), O_RDWR | O_CLOEXEC) : -1;
    for (const int number : {SIGTERM, SIGINT}) {
      const Started started = start({"matrix", path("fifo"), "--results", results()});
      usleep(300'000);
      kill(started.pid, number);
      EXPECT_EQ(wait_for(started), 128 + number) << slurp(started.output);
      EXPECT_EQ(slurp(started.output).find("EINTR"), std::string::npos) << slurp(started.output);
    }
    if (writer) close(open_for_writing);
  }
}

TEST_F(MatrixMessageCases, ThePipeOfAShellIsTaken) {
  small();
  const CommandResult slow = in_bash("<(sleep 0.3; cat " + path("small.yaml") + ") --results " + results());
  EXPECT_EQ(slow.exit_status, 0) << slow.err;
  ASSERT_EQ(runs().size(), 1U);
  const CommandResult again = in_bash("--resume " + runs()[0] + " <(cat " + path("small.yaml") + "; echo '# more')");
  EXPECT_EQ(again.exit_status, 0) << again.err;
  const CommandResult of_stdin = in_bash("/dev/stdin --dry-run < " + path("small.yaml"));
  EXPECT_EQ(of_stdin.exit_status, 0) << of_stdin.err;
}

TEST_F(MatrixMessageCases, AChangedFileIsNoReasonToGuess) {
  EXPECT_EQ(mongo_matrix_in_results({small()}).exit_status, 0);
  ASSERT_EQ(runs().size(), 1U);
  const CommandResult changed = mongo_matrix({"--resume", runs()[0], small(", content: random")});
  EXPECT_EQ(changed.exit_status, 2);
  EXPECT_NE(changed.err.find("content is given as random, in the run it is not given. Leave FILE out"),
            std::string::npos)
      << changed.err;
  EXPECT_EQ(mongo_matrix({"--resume", runs()[0]}).exit_status, 0);
}

TEST_F(MatrixMessageCases, AHookThatCannotBeStartedIsRefusedAtTheStart) {
  std::ofstream(path("hook")) << "echo done\n";
  test::fs::permissions(path("hook"), test::fs::owner_all);
  const CommandResult result = mongo_matrix_in_results({small(), "--hook", path("hook")});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_NE(result.err.find("Let its first line be #!/bin/sh"), std::string::npos) << result.err;
  EXPECT_TRUE(runs().empty());
}

}  // namespace
}  // namespace mongo
