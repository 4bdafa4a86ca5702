// Field cases about matrices: a bad cell, an end at any moment, a full disk, nights.
#include <random>
#include <thread>

#include "tests/cases/matrix_fixture.h"

namespace mongo {
namespace {

using test::Json;
using test::run;

class MatrixCases : public test::MatrixTest {
 protected:
  static std::string four_kinds() { return "matrix: {filesystem: [ext4, xfs], processes: [1, 2]}\nrepeats: 3\n"; }

  /// Kills it ten times at a random moment and takes it up again each time.
  void killed_ten_times(bool whole_group, unsigned seed) {
    const std::string file = matrix(four_kinds());
    std::mt19937 random(seed);
    const auto arguments = [&] {
      return runs().empty() ? Arguments{"matrix", file, "--results", test::MongoTest::results()}
                            : Arguments{"matrix", "--resume", runs().back()};
    };
    for (int i = 0; i < 10; ++i) {
      const Started started = start(arguments());
      usleep(std::uniform_int_distribution<unsigned>(0, 4'000'000)(random));
      kill(whole_group ? -started.pid : started.pid, SIGKILL);
      const int status = wait_for(started);
      EXPECT_TRUE(status == -SIGKILL || status == 0) << status << ": " << slurp(started.output);
      if (!runs().empty()) {
        EXPECT_EQ(run({MONGO_PROGRAM, "status", runs().back()}).exit_status, 0);
      }
    }
    const Started last = start(arguments());
    EXPECT_EQ(wait_for(last), 0) << slurp(last.output);
    ASSERT_EQ(runs().size(), 1U);
    expect_each_once(runs()[0]);
    const Json now = status(runs()[0]);
    EXPECT_EQ(now.at("state"), "ended");
    EXPECT_EQ(now.at("counts").at("ok"), 12);
    // Nothing beside what an undisturbed run has.
    for (const auto& entry : test::fs::directory_iterator(runs()[0])) {
      EXPECT_FALSE(entry.path().string().ends_with(".new")) << entry.path();
    }
  }
};

// Case 60.
TEST_F(MatrixCases, OneBadCellSpoilsNoOther) {
  const std::string file = matrix(
      "matrix: {filesystem: [btrfs, reiserfs, xfs, ext4]}\n"
      "include:\n"
      "  - {filesystem: reiserfs, environment: host}\n"
      "  - {filesystem: xfs, mkfs_options: \"-b size=3\"}\n");
  const bool has_reiserfs = slurp("/proc/filesystems").find("reiserfs") != std::string::npos ||
                            run({"sh", "-c", "modprobe -n reiserfs"}).ok();
  const Started started = start({"matrix", file, "--results", results(), "--order", "listed"});
  // Something holds the first cell's mount for two seconds, from inside of its mount namespace.
  std::string held;
  for (int i = 0; i < 3000 && held.empty(); ++i, usleep(2000)) {
    const pid_t cell = child_of(started.pid);
    if (cell <= 0) continue;
    const std::string mounts = slurp("/proc/" + std::to_string(cell) + "/mountinfo");
    if (mounts.find(" " + point() + " ") != std::string::npos)
      held = "/proc/" + std::to_string(cell) + "/root" + point();
  }
  const int holder = open(held.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  EXPECT_GE(holder, 0) << held;
  std::thread([holder] {
    usleep(2'000'000);
    close(holder);
  }).join();
  EXPECT_EQ(wait_for(started), 1) << slurp(started.output);

  ASSERT_EQ(runs().size(), 1U);
  const Json cells = status(runs()[0]).at("cells");
  ASSERT_EQ(cells.size(), 4U);
  const std::vector<std::string> expected{"ok", has_reiserfs ? "ok" : "unsupported", "failed", "ok"};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(cells[i].at("status"), expected[i]) << cells[i];
  EXPECT_NE(cells[2].at("reason").get<std::string>().find("size=3"), std::string::npos) << cells[2];
  EXPECT_EQ(lines(runs()[0] + "/records.jsonl").size(), 4U);
  for (const Json& cell : cells)
    EXPECT_EQ(lines(runs()[0] + "/" + cell.at("log").get<std::string>() + ".jsonl").size(), 1U);

  // Taken up again nothing is run: all are finished, also the failed one.
  const std::string before = slurp(runs()[0] + "/records.jsonl");
  EXPECT_EQ(mongo_matrix({"--resume", runs()[0]}).exit_status, 1);
  EXPECT_EQ(slurp(runs()[0] + "/records.jsonl"), before);
}

TEST_F(MatrixCases, KilledAtTenMoments) { killed_ten_times(false, 1); }
TEST_F(MatrixCases, KilledAtTenMomentsWithAllOfItsProcesses) { killed_ten_times(true, 2); }

TEST_F(MatrixCases, SigintUndoesTheCellAndTheRestWaits) {
  const Started started = start({"matrix", matrix(four_kinds()), "--results", results(), "--order", "listed"});
  const std::string folder = wait_for_cell(2);
  kill(started.pid, SIGINT);
  EXPECT_EQ(wait_for(started), 130) << slurp(started.output);
  EXPECT_NE(slurp(started.output).find("mongo matrix --resume " + folder), std::string::npos) << slurp(started.output);
  Json now = status(folder);
  EXPECT_EQ(now.at("state"), "ended");
  EXPECT_NE(now.at("reason").get<std::string>().find("SIGINT"), std::string::npos);
  EXPECT_EQ(now.at("counts").at("interrupted"), 1) << now.at("counts");
  EXPECT_EQ(now.at("counts").at("interrupted").get<int>() + now.at("counts").at("waiting").get<int>() +
                now.at("counts").at("ok").get<int>(),
            12);
  EXPECT_FALSE(test::fs::exists(point()));
  // As from a terminal: to all processes at once.
  const Started again = start({"matrix", "--resume", folder});
  usleep(1'500'000);
  kill(-again.pid, SIGINT);
  EXPECT_EQ(wait_for(again), 130) << slurp(again.output);
  EXPECT_EQ(mongo_matrix({"--resume", folder}).exit_status, 0);
  expect_each_once(folder);
}

TEST_F(MatrixCases, TheCrashOfACellIsItsOwn) {
  const Started started = start({"matrix", matrix("matrix: {filesystem: [ext4, xfs]}\nrepeats: 2\n"), "--results",
                                 results(), "--order", "listed"});
  const std::string folder = wait_for_cell(2);
  kill(child_of(started.pid), SIGKILL);
  EXPECT_EQ(wait_for(started), 1) << slurp(started.output);
  const Json now = status(folder);
  EXPECT_EQ(now.at("counts").at("ok"), 3) << now;
  EXPECT_EQ(now.at("counts").at("failed"), 1);
  EXPECT_EQ(lines(folder + "/records.jsonl").size(), 4U);
}

TEST_F(MatrixCases, AFullResultsDiskEndsTheRunAndIsGoneOnWithLater) {
  mount("tmpfs", path("small"), {"-t", "tmpfs", "-o", "size=500k"});
  const CommandResult result =
      mongo_matrix({matrix("matrix: {filesystem: ext4}\nrepeats: 6\n"), "--results", path("small")});
  EXPECT_EQ(result.exit_status, 1) << result.out << result.err;
  EXPECT_NE(result.err.find("No space left on device"), std::string::npos) << result.err;
  std::string folder;
  for (const auto& entry : test::fs::directory_iterator(path("small"))) folder = entry.path().string();
  const Json now = status(folder);
  EXPECT_GT(now.at("counts").at("ok").get<int>(), 0) << now;
  EXPECT_LT(now.at("counts").at("ok").get<int>(), 6) << now;
  EXPECT_EQ(static_cast<int>(lines(folder + "/records.jsonl").size()), now.at("counts").at("ok").get<int>());
  ASSERT_TRUE(run({"mount", "-o", "remount,size=20m", path("small")}).ok());
  const CommandResult again = mongo_matrix({"--resume", folder});
  EXPECT_EQ(again.exit_status, 0) << again.err;
  expect_each_once(folder);
}

TEST_F(MatrixCases, TwoAtOneRunOrOneLock) {
  const std::string file = matrix(four_kinds());
  const Started started = start({"matrix", file, "--results", results(), "--lock", path("night.lock")});
  const std::string folder = wait_for_cell(1);
  const CommandResult same = mongo_matrix({"--resume", folder});
  EXPECT_EQ(same.exit_status, 6) << same.err;
  EXPECT_NE(same.err.find("another process"), std::string::npos);
  const CommandResult night = mongo_matrix_in_results({file, "--lock", path("night.lock")});
  EXPECT_EQ(night.exit_status, 6) << night.err;
  EXPECT_EQ(runs().size(), 1U);
  kill(started.pid, SIGTERM);
  EXPECT_EQ(wait_for(started), 143);
}

TEST_F(MatrixCases, WithoutATerminalALineForEachCell) {
  const CommandResult result =
      mongo_matrix_in_results({matrix("matrix: {filesystem: [ext4, ext2]}\n"), "--order", "listed"});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.err, "");
  ASSERT_EQ(runs().size(), 1U);
  const Json cells = status(runs()[0]).at("cells");
  std::istringstream out(result.out);
  std::string line;
  for (int i = 0; i < 2; ++i) {
    std::getline(out, line);
    EXPECT_EQ(line.find(std::to_string(i + 1) + " of 2  " + cells[i].at("log").get<std::string>() + "  ok "), 0U)
        << line;
  }
  std::getline(out, line);
  EXPECT_EQ(line, "2 ok");
  std::getline(out, line);
  EXPECT_EQ(line, "results: " + runs()[0]);
  EXPECT_FALSE(std::getline(out, line)) << line;
  EXPECT_EQ(mongo_matrix({"--resume", runs()[0], "--quiet"}).out, "");
}

TEST_F(MatrixCases, OnATerminalAStatusLine) {
  if (!run({"sh", "-c", "command -v script"}).ok()) GTEST_SKIP() << "needs script(1)";
  const std::string command = std::string(MONGO_PROGRAM) + " matrix " +
                              matrix("matrix: {filesystem: ext4}\nrepeats: 2\n") + " --results " + results();
  const CommandResult result = run({"env", "-u", "NO_COLOR", "TERM=xterm", "script", "-qec", command, "/dev/null"});
  EXPECT_EQ(result.exit_status, 0);
  for (const char* words :
       {"cell 1 of 2\033[0m: ", "time left unknown, ext4-p1", "Create 100 bytes, ", "cell 2 of 2", " left (all: "}) {
    EXPECT_NE(result.out.find(words), std::string::npos) << words << " in " << result.out;
  }
}

TEST_F(MatrixCases, TheDryRunTouchesNothingAndLearns) {
  const std::string file = matrix("matrix: {filesystem: ext4, processes: [1, 2]}\n");
  CommandResult plan = mongo_matrix_in_results({file, "--dry-run"});
  EXPECT_EQ(plan.exit_status, 0) << plan.err;
  EXPECT_NE(plan.out.find("time unknown"), std::string::npos) << plan.out;
  EXPECT_NE(plan.out.find("2.0 MiB"), std::string::npos) << plan.out;
  EXPECT_NE(plan.out.find("at most 4.0 MiB"), std::string::npos) << plan.out;
  EXPECT_TRUE(runs().empty());
  EXPECT_EQ(mongo_matrix_in_results({file}).exit_status, 0);
  plan = mongo_matrix_in_results({file, "--dry-run"});
  EXPECT_EQ(plan.out.find("unknown"), std::string::npos) << plan.out;
  EXPECT_EQ(runs().size(), 1U);
}

TEST_F(MatrixCases, TheFolderOfARunStandsForItsCells) {
  const std::string file = matrix("matrix: {filesystem: [xfs, ext2, ext4]}\n");
  ASSERT_EQ(mongo_matrix_in_results({file, "--seed", "3"}).exit_status, 0);
  const std::string folder = runs().at(0);
  CommandResult compared = run({MONGO_PROGRAM, "compare", folder});
  EXPECT_EQ(compared.exit_status, 0) << compared.err;
  const auto place = [&](const std::string& word) { return compared.out.find(word); };
  EXPECT_NE(place("xfs"), std::string::npos) << compared.out;
  EXPECT_LT(place("xfs"), place("ext2")) << compared.out;
  EXPECT_LT(place("ext2"), place("ext4")) << compared.out;
  const auto remove_results_of = [&](const std::string& what) {
    for (const auto& entry : test::fs::directory_iterator(folder)) {
      if (entry.path().filename().string().starts_with(what)) test::fs::remove(entry.path());
    }
  };
  remove_results_of("ext2");
  compared = run({MONGO_PROGRAM, "compare", folder});
  EXPECT_EQ(compared.exit_status, 0);
  EXPECT_NE(compared.err.find("has no record"), std::string::npos) << compared.err;
  EXPECT_EQ(place("ext2"), std::string::npos) << compared.out;
  remove_results_of("ext4");
  remove_results_of("xfs");
  EXPECT_EQ(run({MONGO_PROGRAM, "compare", folder}).exit_status, 2);
  EXPECT_EQ(run({MONGO_PROGRAM, "compare", results()}).exit_status, 2);
}

TEST_F(MatrixCases, TheSeedRepeatsTheOrder) {
  const std::string file = matrix("matrix: {filesystem: [ext2, ext3, ext4, xfs, btrfs], processes: [1, 2, 4]}\n");
  const auto order = [&](const std::string& seed) { return mongo_matrix({file, "--dry-run", "--seed", seed}).out; };
  EXPECT_EQ(order("42"), order("42"));
  EXPECT_NE(order("42"), order("43"));
  for (const char* seed : {"-1", "x", "1.5", "99999999999999999999", "9007199254740992"}) {
    EXPECT_EQ(mongo_matrix({file, "--dry-run", "--seed", seed}).exit_status, 2) << seed;
  }
}

TEST_F(MatrixCases, ArgumentsThatCannotBeMeant) {
  const std::string file = matrix("matrix: {filesystem: ext4}\n");
  const std::vector<Arguments> wrong{{},
                                     {path("none.yaml")},
                                     {"--resume", path("none")},
                                     {"--resume", results()},
                                     {file, "--resume", results(), "--seed", "1"},
                                     {file, "--resume", results(), "--results", results()},
                                     {file, "--order", "random"},
                                     {file, "--keep", "0"},
                                     {file, "--keep", "3", "--keep-days", "3"},
                                     {file, "--keep-days", "x"},
                                     {file, "--hook", path("none")},
                                     {file, "--idle", "-1"},
                                     {file, "--lock", path("none/lock")},
                                     {file, "--results", path("none/deep")}};
  for (const Arguments& arguments : wrong) {
    const CommandResult result = mongo_matrix(arguments);
    EXPECT_EQ(result.exit_status, 2) << ::testing::PrintToString(arguments) << result.err;
    EXPECT_EQ(result.out, "");
  }
  EXPECT_TRUE(runs().empty());
  EXPECT_EQ(run({MONGO_PROGRAM, "status", results()}).exit_status, 2);
}

TEST_F(MatrixCases, OptionsThatNoRunWouldTakeAreSaidBeforeTheFirstCell) {
  const std::string node = device(64 * test::MiB), before = fingerprint(node);
  std::ofstream(path("refused.yaml")) << "device: " << node << "\nmount_point: " << point() << "\n"
                                      << "defaults: {profile: smoke, mkfs_options: -N 8000}\n"
                                      << "matrix: {filesystem: [ext2, ext4, xfs]}\n";
  std::ofstream(path("mount.yaml")) << "device: " << node << "\nmount_point: " << point() << "\n"
                                    << "defaults: {profile: smoke}\nmatrix: {filesystem: ext4}\n"
                                    << "include: [{filesystem: ext2, mount_options: 'noatime,loop'}]\n";
  const std::pair<const char*, const char*> files[] = {
      {"refused.yaml", ":3:42: mkfs_options: '-N' cannot be used with xfs: "},
      {"mount.yaml", ":5:45: mount_options: 'loop' cannot be used: "}};
  for (const auto& [name, words] : files) {
    for (const Arguments& arguments : {Arguments{path(name)}, Arguments{path(name), "--dry-run"}}) {
      const CommandResult result = mongo_matrix_in_results(arguments);
      EXPECT_EQ(result.exit_status, 2) << result.out;
      EXPECT_EQ(result.out, "");
      EXPECT_NE(result.err.find(path(name) + words), std::string::npos) << result.err;
      EXPECT_NE(result.err.find("In the cell filesystem "), std::string::npos) << result.err;
    }
  }
  EXPECT_TRUE(test::fs::is_empty(results()));
  EXPECT_TRUE(fingerprint(node) == before);
}

// As the service of the timer calls it, with other places.
TEST_F(MatrixCases, TheCommandLineOfTheTimer) {
  std::string unit = slurp(std::string(MONGO_SOURCE_DIR) + "/packaging/mongo-nightly.service.in");
  unit = unit.substr(unit.find("ExecStart=") + 10);
  std::istringstream words(unit.substr(0, unit.find('\n')));
  const std::map<std::string, std::string> replaced{
      {"@CMAKE_INSTALL_PREFIX@/sbin/mongo", MONGO_PROGRAM},
      {"@CMAKE_INSTALL_FULL_SYSCONFDIR@/mongo/nightly.yaml", matrix("matrix: {filesystem: ext4}\n")},
      {"/var/lib/mongo/nightly", results()},
      {"/run/mongo-nightly.lock", path("night.lock")}};
  std::ofstream(path("hook")) << "#!/bin/sh\necho \"$2 $MONGO_MATRIX_DIR\" >> " << path("told") << "\n";
  test::fs::permissions(path("hook"), test::fs::owner_all);
  Arguments argv{"env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "MONGO_STATE=" + path("state"),
                 "TMPDIR=" + devices_folder_};
  for (std::string word, before; words >> word; before = word) {
    const auto other = replaced.find(word);
    argv.push_back(other != replaced.end() ? other->second
                   : before == "--idle"    ? "0"
                   : before == "--keep"    ? "2"
                                           : word);
  }
  ASSERT_GT(argv.size(), 10U) << unit;
  argv.insert(argv.end(), {"--hook", path("hook")});
  std::vector<std::string> nights;
  for (int night = 0; night < 3; ++night) {
    const CommandResult result = run(argv);
    EXPECT_EQ(result.exit_status, 0) << result.err;
    nights.push_back(runs().back());
    usleep(1'100'000);  // names are by the second
  }
  EXPECT_EQ(runs(), (std::vector<std::string>{nights[1], nights[2]}));
  EXPECT_EQ(slurp(path("told")), "ok " + nights[0] + "\nok " + nights[1] + "\nok " + nights[2] + "\n");
}

}  // namespace
}  // namespace mongo
