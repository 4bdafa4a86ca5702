// Field cases about the devices of a matrix: several at the same time, and one whose name moves.
#include "tests/cases/matrix_fixture.h"

namespace mongo {
namespace {

using test::Json;
using test::run;

class MatrixDeviceCases : public test::MatrixTest {
 protected:
  std::string two_devices() const {
    std::ofstream(path("two.yaml")) << "devices: [loop:512MiB, ram:512MiB]\nmount_point: " << point()
                                    << "\ndefaults: {profile: smoke, sparse: true}\n"
                                       "matrix: {filesystem: [ext4, xfs]}\nrepeats: 2\n";
    return path("two.yaml");
  }

  /// The runs, and how many of their time spans overlap with that of another one.
  static int overlaps(const std::vector<Json>& records) {
    int found = 0;
    for (const Json& a : records) {
      for (const Json& b : records) {
        const bool other = a.at("log") != b.at("log");
        found += other && a.at("started_at") < b.at("ended_at") && b.at("started_at") < a.at("ended_at") ? 1 : 0;
      }
    }
    return found;
  }

  static bool has_flag(const Json& record, const std::string& flag) {
    const Json& flags = record.at("flags");
    return std::find(flags.begin(), flags.end(), flag) != flags.end();
  }
};

TEST_F(MatrixDeviceCases, OneAtATimeUnlessAskedFor) {
  ASSERT_EQ(mongo_matrix_in_results({two_devices(), "--quiet"}).exit_status, 0);
  expect_each_once(runs()[0]);
  const std::vector<Json> records = lines(runs()[0] + "/records.jsonl");
  EXPECT_EQ(overlaps(records), 0);
  for (const Json& record : records) EXPECT_FALSE(has_flag(record, "side-by-side"));
}

TEST_F(MatrixDeviceCases, SideBySideOnDifferentDevices) {
  const Started started = start({"matrix", two_devices(), "--results", results(), "--side-by-side"});
  std::size_t most = 0;
  for (int i = 0; i < 2000 && most < 2; ++i, usleep(10'000)) {
    if (!runs().empty()) most = std::max(most, status(runs()[0]).at("running").size());
  }
  EXPECT_EQ(most, 2U);
  EXPECT_EQ(wait_for(started), 0) << slurp(started.output);
  expect_each_once(runs()[0]);
  const std::vector<Json> records = lines(runs()[0] + "/records.jsonl");
  EXPECT_GT(overlaps(records), 0);
  std::map<std::string, std::string> points;
  for (const Json& record : records) {
    EXPECT_TRUE(has_flag(record, "side-by-side")) << record.at("log");
    points[record.at("device").at("given")] = record.at("mount").at("point");
    for (const Json& other : records) {
      const bool same_device = record.at("device").at("given") == other.at("device").at("given");
      if (record.at("log") == other.at("log") || !same_device) continue;
      EXPECT_TRUE(record.at("ended_at") <= other.at("started_at") || other.at("ended_at") <= record.at("started_at"));
    }
  }
  ASSERT_EQ(points.size(), 2U);
  EXPECT_NE(points.begin()->second, points.rbegin()->second);
}

TEST_F(MatrixDeviceCases, SideBySideASignalUndoesAllOfThem) {
  const Started started = start({"matrix", two_devices(), "--results", results(), "--side-by-side"});
  for (int i = 0; i < 2000; ++i, usleep(10'000)) {
    if (!runs().empty() && status(runs()[0]).at("running").size() == 2) break;
  }
  kill(started.pid, SIGINT);
  EXPECT_EQ(wait_for(started), 130) << slurp(started.output);
  EXPECT_EQ(status(runs()[0]).at("counts").at("interrupted"), 2);
  EXPECT_EQ(mongo_matrix({"--resume", runs()[0], "--side-by-side", "--quiet"}).exit_status, 0);
  expect_each_once(runs()[0]);
}

TEST_F(MatrixDeviceCases, SideBySideKilledAndTakenUp) {
  const Started started = start({"matrix", two_devices(), "--results", results(), "--side-by-side"});
  for (int i = 0; i < 2000; ++i, usleep(10'000)) {
    if (!runs().empty() && status(runs()[0]).at("running").size() == 2) break;
  }
  kill(started.pid, SIGKILL);
  EXPECT_EQ(wait_for(started), -SIGKILL);
  // While the cells still undo their work, the run waits for them.
  EXPECT_EQ(mongo_matrix({"--resume", runs()[0], "--side-by-side", "--quiet"}).exit_status, 0);
  expect_each_once(runs()[0]);
}

// Case 15: a link that leads to another device between two cells.
TEST_F(MatrixDeviceCases, ANameThatMovesEndsTheCellsOnThatDevice) {
  const std::string first = device(512 << 20), second = device(512 << 20);
  test::fs::create_symlink(first, path("link"));
  std::ofstream(path("m.yaml")) << "device: " << path("link") << "\nmount_point: " << point()
                                << "\ndefaults: {profile: smoke}\nmatrix: {filesystem: [ext4, xfs, ext2]}\n"
                                   "include: [{filesystem: ext3, device: ram:512MiB}]\n";
  const std::string before = fingerprint(second);
  const Started started = start({"matrix", path("m.yaml"), "--results", results(), "--order", "listed"});
  ASSERT_NE(wait_for_cell(1), "");
  test::fs::create_symlink(second, path("new"));
  test::fs::rename(path("new"), path("link"));
  EXPECT_EQ(wait_for(started), 1) << slurp(started.output);
  const Json now = status(runs()[0]);
  EXPECT_EQ(now.at("counts").at("ok"), 2) << now;
  EXPECT_EQ(now.at("counts").at("skipped"), 2) << now;
  EXPECT_EQ(now.at("cells").at(1).at("status"), "skipped");
  const std::string reason = now.at("cells").at(1).at("reason");
  EXPECT_NE(reason.find("leads to another device than when the run began"), std::string::npos) << reason;
  EXPECT_EQ(fingerprint(second), before);
  // Still the wrong one; then the right one.
  EXPECT_EQ(mongo_matrix({"--resume", runs()[0], "--quiet"}).exit_status, 1);
  EXPECT_EQ(fingerprint(second), before);
  test::fs::create_symlink(first, path("new"));
  test::fs::rename(path("new"), path("link"));
  EXPECT_EQ(mongo_matrix({"--resume", runs()[0], "--quiet"}).exit_status, 0);
  expect_each_once(runs()[0]);
}

TEST_F(MatrixDeviceCases, ANameThatComesLaterIsNotFollowed) {
  const std::string node = device(64 << 20), before = fingerprint(node);
  std::ofstream(path("m.yaml")) << "mount_point: " << point() << "\ndefaults: {profile: smoke, destroy: true}\n"
                                << "matrix: {device: [\"ram:64MiB\", " << path("late") << "], filesystem: ext2}\n";
  const Started started = start({"matrix", path("m.yaml"), "--results", results(), "--order", "listed"});
  ASSERT_NE(wait_for_cell(1), "");
  test::fs::create_symlink(node, path("late"));
  EXPECT_EQ(wait_for(started), 1) << slurp(started.output);
  EXPECT_EQ(status(runs()[0]).at("counts").at("skipped"), 1);
  EXPECT_EQ(fingerprint(node), before);
  EXPECT_EQ(mongo_matrix({"--resume", runs()[0], "--quiet"}).exit_status, 0);
  expect_each_once(runs()[0]);
  EXPECT_NE(fingerprint(node), before);
}

TEST_F(MatrixDeviceCases, OfTwoRunsAtOneMountPointOneIsRefused) {
  const Started started =
      start({"matrix", matrix("matrix: {filesystem: ext4, processes: [1, 2, 3]}\n"), "--results", results()});
  ASSERT_NE(wait_for_cell(1), "");
  const CommandResult other = mongo_run("ext2", "ram:64MiB", {"--profile", "smoke"});
  EXPECT_EQ(other.exit_status, 3) << other.err;
  EXPECT_NE(other.err.find("the mount point '" + point() + "' is in use by another run of mongo, pid "),
            std::string::npos)
      << other.err;
  EXPECT_EQ(wait_for(started), 0) << slurp(started.output);
  expect_each_once(runs()[0]);
}

TEST_F(MatrixDeviceCases, ASignalEndsTheHook) {
  std::ofstream(path("hook")) << "#!/bin/sh\n"
                              << MONGO_PROGRAM << " status \"$1\" > " << path("told") << "\nexec sleep 300\n";
  test::fs::permissions(path("hook"), test::fs::owner_all);
  const Started started =
      start({"matrix", matrix("matrix: {filesystem: ext4}\n"), "--results", results(), "--hook", path("hook")});
  for (int i = 0; i < 3000 && slurp(path("told")).find("ended") == std::string::npos; ++i) usleep(10'000);
  EXPECT_NE(slurp(path("told")).find("ended: 1 ok"), std::string::npos) << slurp(path("told"));
  const auto begun = std::chrono::steady_clock::now();
  kill(started.pid, SIGINT);
  EXPECT_EQ(wait_for(started), 130);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
  EXPECT_NE(slurp(started.output).find("was ended: "), std::string::npos) << slurp(started.output);
  EXPECT_EQ(run({"pgrep", "-f", path("hook")}).out, "");
}

}  // namespace
}  // namespace mongo
