// Field cases of the subcommands that look at the host, and of cleanup.
#include <signal.h>
#include <sys/wait.h>

#include "harness/device/journal_file.h"
#include "tests/cases/mongo_fixture.h"

namespace mongo {
namespace {

using namespace std::chrono_literals;
using test::Json;
using test::MiB;

class StateCases : public test::MongoTest {
 protected:
  void SetUp() override {
    test::MongoTest::SetUp();
    setenv("MONGO_STATE", state().c_str(), 1);
  }
  void TearDown() override {
    unsetenv("MONGO_STATE");
    test::MongoTest::TearDown();
  }

  std::string state() const { return path("state"); }
  static CommandResult mongo(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), MONGO_PROGRAM);
    return test::run(std::move(arguments), 60s);
  }

  /// The journal of a run that is dead, with that step.
  std::string journal(const std::string& name, const JournalStep& step) {
    JournalHeader header = describe_self(name);
    header.pid = 1;
    header.command_line = "no such command line";
    test::fs::create_directories(state());
    const std::string file = state() + "/" + name + ".journal";
    std::ofstream(file) << to_line(header) << to_line(step);
    return file;
  }

  static JournalStep directory(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(stat(path.c_str(), &info), 0);
    return {JournalStep::Kind::directory, path, "", info.st_dev, info.st_ino};
  }
};

TEST_F(StateCases, DevicesAsJson) {
  const std::string blank = device(64 * MiB), foreign = device(64 * MiB), read_only = device(64 * MiB, {"-r"});
  ASSERT_TRUE(test::run({"mkfs.ext4", "-Fq", "-L", "mine", foreign}).ok());
  Json all;
  const auto ask = [&] {
    const CommandResult result = mongo({"devices", "--json"});
    EXPECT_EQ(result.exit_status, 0) << result.err;
    EXPECT_EQ(result.err, "");
    all = Json::parse(result.out);
  };
  const auto item = [&](const std::string& node) {
    for (const Json& each : all) {
      if (each.at("device") == node) return each;
    }
    ADD_FAILURE() << node << " is not listed";
    return Json(Json::object());
  };
  ask();
  // Others on the machine open every device exclusively for a moment.
  for (int i = 0; i < 20 && !(item(blank).at("accepted") && item(foreign).at("needs_destroy")); ++i) ask();
  EXPECT_EQ(item(blank).at("accepted"), true) << item(blank);
  EXPECT_EQ(item(blank).at("size_bytes"), 64 * MiB);
  EXPECT_TRUE(item(blank).at("contents").empty());
  EXPECT_EQ(item(foreign).at("accepted"), false);
  EXPECT_EQ(item(foreign).at("needs_destroy"), true);
  EXPECT_EQ(item(foreign).at("contents").at(0).at("type"), "ext4");
  EXPECT_EQ(item(foreign).at("contents").at(0).at("label"), "mine");
  EXPECT_EQ(item(read_only).at("accepted"), false);
  EXPECT_EQ(item(read_only).at("needs_destroy"), false);
  EXPECT_NE(item(read_only).at("why_not").get<std::string>().find("read-only"), std::string::npos);
  const CommandResult text = mongo({"devices"});
  EXPECT_EQ(text.exit_status, 0);
  EXPECT_NE(text.out.find(foreign), std::string::npos);
}

TEST_F(StateCases, Doctor) {
  const CommandResult result = mongo({"doctor", "--results", results()});
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  for (const char* word : {"ext2", "ext3", "ext4", "xfs", "btrfs", "reiserfs", "zfs", "root", "loop devices"})
    EXPECT_NE(result.out.find(word), std::string::npos) << word << " in: " << result.out;
  EXPECT_FALSE(test::fs::exists(results())) << "it only looks";
  EXPECT_FALSE(test::fs::exists(state()));
}

TEST_F(StateCases, NothingToCleanUp) {
  for (const bool there : {false, true}) {
    if (there) test::fs::create_directories(state());
    const CommandResult result = mongo({"cleanup"});
    EXPECT_EQ(result.exit_status, 0) << result.err;
    EXPECT_EQ(result.out, "nothing was left\n");
    EXPECT_EQ(result.err, "");
  }
}

TEST_F(StateCases, ADirectoryOfThatNameIsNotEnough) {
  test::fs::create_directories(path("made"));
  JournalStep step = directory(path("made"));
  ++step.inode;
  journal("wrong", step);
  const CommandResult result = mongo({"cleanup"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_TRUE(test::fs::exists(path("made")));
  EXPECT_EQ(result.out.find("removed the directory"), std::string::npos) << result.out;
  EXPECT_FALSE(test::fs::exists(state())) << "the journal has nothing left to say";
}

TEST_F(StateCases, ADirectoryThatARunMadeIsRemoved) {
  test::fs::create_directories(path("made"));
  journal("right", directory(path("made")));
  const CommandResult result = mongo({"cleanup"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_FALSE(test::fs::exists(path("made")));
  EXPECT_NE(result.out.find("removed the directory " + path("made")), std::string::npos) << result.out;
  EXPECT_FALSE(test::fs::exists(state()));
}

TEST_F(StateCases, ADirectoryThatSomebodyUsesMeanwhileStays) {
  test::fs::create_directories(path("made"));
  const std::string file = journal("used", directory(path("made")));
  std::ofstream(path("made/keep")) << "kept";
  const CommandResult result = mongo({"cleanup"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.err.find(path("made")), std::string::npos) << result.err;
  EXPECT_EQ(slurp(path("made/keep")), "kept");
  EXPECT_TRUE(test::fs::exists(file)) << "to be tried again";
  test::fs::remove(path("made/keep"));
  EXPECT_EQ(mongo({"cleanup"}).exit_status, 0);
  EXPECT_FALSE(test::fs::exists(path("made")));
}

TEST_F(StateCases, FilesThatAreNoJournalsStayAndHoldNothingUp) {
  test::fs::create_directories(state());
  std::ofstream(state() + "/text.journal") << "not a journal\n";
  std::ofstream(state() + "/notes.txt") << "kept";
  test::fs::create_symlink(path("elsewhere"), state() + "/link.journal");
  ASSERT_EQ(mkfifo((state() + "/pipe.journal").c_str(), 0600), 0);
  test::fs::create_directories(state() + "/folder.journal");
  const CommandResult result = mongo({"cleanup"});
  EXPECT_EQ(result.exit_status, 1) << result.out << result.err;
  EXPECT_NE(result.err.find("text.journal"), std::string::npos) << result.err;
  EXPECT_TRUE(test::fs::exists(state() + "/text.journal"));
  EXPECT_TRUE(test::fs::exists(state() + "/notes.txt"));
  const CommandResult next =
      mongo({"run", "ext4", "ram:64MiB", point(), "log", "1", "--profile", "smoke", "--results", results()});
  EXPECT_EQ(next.exit_status, 0) << "a run is not held up either: " << next.err;
}

TEST_F(StateCases, ARunAtWorkIsLeftAlone) {
  const std::string node = device(512 * MiB), where = point(), to = results();
  const pid_t pid = fork();
  if (pid == 0) {
    const int null = open("/dev/null", O_RDWR);
    dup2(null, STDOUT_FILENO);
    execl(MONGO_PROGRAM, MONGO_PROGRAM, "run", "ext4", node.c_str(), where.c_str(), "log", "1", "--phases", "create",
          "--mkfs-options", "-N 60000", "--results", to.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  const std::string mounts = "/proc/" + std::to_string(pid) + "/mountinfo";
  for (int i = 0; i < 2000 && slurp(mounts).find(" " + where + " ") == std::string::npos; ++i) usleep(5000);
  for (int i = 0; i < 5; ++i) {
    const CommandResult result = mongo({"cleanup"});
    EXPECT_EQ(result.exit_status, 0) << result.err;
    EXPECT_NE(result.out.find("left alone: the run of " + state()), std::string::npos) << result.out;
  }
  EXPECT_TRUE(test::fs::exists(where));
  int status = -1;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(last_record().at("status"), "ok");
  EXPECT_EQ(mongo({"cleanup"}).out, "nothing was left\n");
}

}  // namespace
}  // namespace mongo
