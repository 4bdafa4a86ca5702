// Field cases about arguments, output and exit statuses. Those without a device need no root.
#include <regex>
#include <set>

#include "harness/plan/run_options.h"
#include "tests/cases/mongo_fixture.h"

namespace mongo {
namespace {

using test::MiB;

CommandResult mongo(std::vector<std::string> argv) {
  argv.insert(argv.begin(), MONGO_PROGRAM);
  return test::run(std::move(argv));
}

TEST(CommandLine, HelpOnEveryLevelHasExamples) {
  for (const auto& argv : {std::vector<std::string>{"--help"}, {"run", "--help"}, {"compare", "--help"}}) {
    const CommandResult result = mongo(argv);
    EXPECT_EQ(result.exit_status, 0);
    EXPECT_NE(result.out.find("Example"), std::string::npos);
    EXPECT_EQ(result.err, "");
  }
  const CommandResult run_help = mongo({"run", "--help"});
  for (const char* word : {"FILESYSTEM",
                           "DEVICE",
                           "MOUNTPOINT",
                           "LOG",
                           "PROCESSES",
                           "--profile",
                           "--phases",
                           "--repetitions",
                           "--mkfs-options",
                           "--mount-options",
                           "--dry-run",
                           "--destroy",
                           "--json",
                           "--quiet",
                           "--results",
                           "reiserfs",
                           "zfs",
                           "classic",
                           "ltp",
                           "smoke"}) {
    EXPECT_NE(run_help.out.find(word), std::string::npos) << word;
  }
}

/// What can be said about a run in a matrix can be said on the command line, and the other way round.
TEST(CommandLine, OptionsOfRunAreTheKeysOfAMatrix) {
  const std::string help = mongo({"run", "--help"}).out;
  std::set<std::string> known{"--help", "--dry-run", "--json", "--quiet"}, shown;
  for (const RunOption& option : run_options()) {
    if (option.is_argument()) {
      EXPECT_NE(help.find("  " + option.name + " "), std::string::npos) << option.name;
    } else {
      known.insert(option.name);
    }
  }
  // An option stands at the beginning of its line; what stands further back is an example.
  const std::regex pattern("\n  (?:-[a-z],)?(--[a-z-]+)");
  for (std::sregex_iterator found(help.begin(), help.end(), pattern), end; found != end; ++found) {
    shown.insert((*found)[1]);
  }
  EXPECT_EQ(shown, known);
}

TEST(CommandLine, Version) {
  const CommandResult result = mongo({"--version"});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.out, std::string("mongo ") + MONGO_VERSION + "\n");
}

TEST(CommandLine, BadUsageIsStatusTwoOnStderr) {
  const std::vector<std::vector<std::string>> bad{
      {},
      {"frobnicate"},
      {"run"},
      {"run", "ext3", "/dev/nope", "/mnt/x", "log"},
      {"run", "ext3", "/dev/nope", "/mnt/x", "log", "1", "7"},
      {"run", "ext3", "/dev/nope", "/mnt/x", "log", "1", "--frob"},
      {"run", "ext3", "/dev/nope", "/mnt/x", "log", "1", "--profile"},
      {"run", "ext9", "/dev/nope", "/mnt/x", "log", "1"},
      {"run", "ext3", "ram:12Q", "/mnt/x", "log", "1"},
      {"run", "ext3", "/dev/nope", "/mnt/x", "log", "1", "--mkfs-options", "'"},
      {"run", "ext3", "/dev/nope", "/mnt/x", "log", "1", "--mount-options", "loop"},
      {"compare"},
      {"compare", "/no/such/file.jsonl"},
  };
  for (const auto& argv : bad) {
    const CommandResult result = mongo(argv);
    EXPECT_EQ(result.exit_status, 2) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err, "");
  }
}

TEST(CommandLine, ProcessesMustBeANumberThatCanBeMeant) {
  for (const char* processes : {"0", "-1", "abc", "1.5", " 4", "+4", "1000000", "99999999999999999999", ""}) {
    const CommandResult result = mongo({"run", "ext3", "/dev/nope", "/mnt/x", "log", processes});
    EXPECT_EQ(result.exit_status, 2) << processes;
    EXPECT_EQ(result.out, "");
  }
}

TEST(CommandLine, LogNames) {
  for (const std::string& name :
       {std::string("a/b"), std::string("../x"), std::string("/tmp/x/log"), std::string(), std::string("-n"),
        std::string(300, 'x'), std::string("con\ntrol"), std::string("."), std::string("..")}) {
    const CommandResult result = mongo({"run", "ext3", "/dev/nope", "/mnt/x", name, "1"});
    EXPECT_EQ(result.exit_status, 2) << name;
  }
}

TEST(CommandLine, DryRunPrintsEveryCommandAndTouchesNothing) {
  const CommandResult result =
      mongo({"run", "ext3", "ram:64MiB", "/tmp/mongo-no-such-place", "log ext3", "2", "--dry-run", "--results",
             "/tmp/mongo-no-results", "--mkfs-options", "-N 4000", "--mount-options", "noatime,data=journal"});
  const bool root = geteuid() == 0;
  EXPECT_EQ(result.exit_status, root ? 0 : 1) << result.err;
  EXPECT_NE(result.out.find("mkfs.ext3 -F -q -N 4000 -L mongo -U UUID /dev/loopN"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("mount -t ext3 -o noatime,data=journal /dev/loopN /tmp/mongo-no-such-place"),
            std::string::npos);
  EXPECT_NE(result.out.find("pass 3 of 3: median file size 10000 bytes: 6 trees of 382 files"), std::string::npos)
      << result.out;
  EXPECT_FALSE(test::fs::exists("/tmp/mongo-no-such-place"));
  EXPECT_FALSE(test::fs::exists("/tmp/mongo-no-results"));
  EXPECT_EQ(mongo({"run", "ext3", "/dev/nope", "/tmp/mongo-no-such-place", "log", "1", "--dry-run"}).exit_status,
            root ? 3 : 1);
}

TEST(CommandLine, OutputThatCannotBeWrittenIsAnError) {
  for (const char* redirection : {">/dev/full", ">&-"}) {
    const CommandResult result = test::run({"sh", "-c", std::string("\"$0\" --help ") + redirection, MONGO_PROGRAM});
    EXPECT_EQ(result.exit_status, 1) << redirection;
    EXPECT_NE(result.err.find("stdout could not be written"), std::string::npos) << result.err;
  }
}

class RunOutput : public test::MongoTest {};

TEST_F(RunOutput, ClosedStandardDescriptorsAreNotTheDevice) {
  const std::string node = device(64 * MiB);
  const CommandResult result = test::run({"sh", "-c", "exec \"$@\" <&- >&- 2>&-", "sh", MONGO_PROGRAM, "run", "ext4",
                                          node, point(), "log", "1", "--profile", "smoke", "--results", results()});
  EXPECT_EQ(result.exit_status, 1) << "the lines of the phases were lost";
  EXPECT_EQ(last_record().at("status"), "ok");
  EXPECT_EQ(test::run({"fsck.ext4", "-n", "-f", node}).exit_status, 0) << "nothing was printed onto the device";
}

TEST_F(RunOutput, JsonIsAloneOnStdout) {
  const CommandResult result = mongo_run("ext4", "ram:64MiB", {"--profile", "smoke", "--json"});
  ASSERT_EQ(result.exit_status, 0) << result.err;
  const test::Json record = test::Json::parse(result.out);
  EXPECT_EQ(record, last_record());
  EXPECT_EQ(record.at("status"), "ok");
}

TEST_F(RunOutput, QuietPrintsNothing) {
  const CommandResult result = mongo_run("ext4", "ram:64MiB", {"--profile", "smoke", "--quiet"});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.out + result.err, "");
}

TEST_F(RunOutput, NoProgressLineWhereThereIsNoTerminal) {
  const CommandResult result = mongo_run("ext4", "ram:64MiB", {"--profile", "smoke"});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ((result.out + result.err).find('\r'), std::string::npos);
  EXPECT_EQ((result.out + result.err).find('\033'), std::string::npos);
  EXPECT_NE(result.out.find("Create"), std::string::npos);
}

TEST_F(RunOutput, ProgressOnATerminalAndNoColorHonoured) {
  const std::string command =
      std::string(MONGO_PROGRAM) + " run ext4 ram:64MiB " + point() + " log 1 --profile smoke --results " + results();
  const CommandResult coloured = test::run({"env", "TERM=xterm", "script", "-qec", command, "/dev/null"});
  EXPECT_EQ(coloured.exit_status, 0);
  EXPECT_NE(coloured.out.find("\r\033[K\033[1mCreate 100 bytes\033[0m: 0 of "), std::string::npos) << coloured.out;
  const CommandResult plain = test::run({"env", "TERM=xterm", "NO_COLOR=1", "script", "-qec", command, "/dev/null"});
  EXPECT_NE(plain.out.find("\r\033[KCreate 100 bytes: 0 of "), std::string::npos);
  EXPECT_EQ(plain.out.find("\033[1m"), std::string::npos);
}

TEST_F(RunOutput, ResultsDirectoryThatCannotBeIsSaidBeforeTheFormat) {
  const std::string node = device(64 * MiB);
  const std::string before = fingerprint(node);
  const CommandResult result =
      test::run({MONGO_PROGRAM, "run", "ext4", node, point(), "log", "1", "--results", path("no/such/folder")});
  EXPECT_NE(result.exit_status, 0);
  EXPECT_NE(result.err.find("no/such"), std::string::npos) << result.err;
  std::ofstream(path("file")) << "x";
  EXPECT_NE(test::run({MONGO_PROGRAM, "run", "ext4", node, point(), "log", "1", "--results", path("file")}).exit_status,
            0);
  EXPECT_EQ(fingerprint(node), before);
}

TEST_F(RunOutput, TwoRunsAreTwoBlocksInEveryFile) {
  for (int i = 0; i < 2; ++i) EXPECT_EQ(mongo_run("ext4", "ram:64MiB", {"--profile", "smoke"}).exit_status, 0);
  EXPECT_EQ(records().size(), 2U);
  for (const char* suffix : {"", ".tbl", "_table"}) {
    const std::string text = slurp(results() + "/log" + suffix);
    for (const test::Json& record : records()) {
      EXPECT_NE(text.find(record.at("run_id").get<std::string>()), std::string::npos) << suffix;
    }
  }
}

}  // namespace
}  // namespace mongo
