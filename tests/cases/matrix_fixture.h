#pragma once

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "tests/cases/mongo_fixture.h"
#include "tests/support/child.h"

namespace mongo::test {

/// Runs matrices with the built program, as a user would.
class MatrixTest : public MongoTest {
 protected:
  void SetUp() override {
    MongoTest::SetUp();
    if (IsSkipped()) return;
    setenv("MONGO_STATE", path("state").c_str(), 1);
    // The devices' files: in memory, and to be told from those of others.
    std::string name = std::string(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/var/tmp") + "/mongo-test-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    devices_folder_ = name;
    setenv("TMPDIR", name.c_str(), 1);
    fs::create_directory(results());
  }

  void TearDown() override {
    if (!folder_.empty() && !IsSkipped()) {
      const CommandResult cleanup = run({MONGO_PROGRAM, "cleanup"});
      EXPECT_EQ(cleanup.out, "nothing was left\n") << cleanup.err;
      EXPECT_FALSE(fs::exists(path("state"))) << "a journal is left";
      EXPECT_FALSE(fs::exists(point())) << "the mount point is left";
      EXPECT_EQ(run({"pgrep", "-f", std::string(MONGO_PROGRAM) + " matrix .*" + folder_}).out, "");
      EXPECT_EQ(run({"losetup", "-a"}).out.find(devices_folder_), std::string::npos) << "a device is in use";
      EXPECT_TRUE(fs::is_empty(devices_folder_)) << "a file of a device is left";
      fs::remove_all(devices_folder_);
    }
    unsetenv("MONGO_STATE");
    unsetenv("TMPDIR");
    MongoTest::TearDown();
  }

  /// A matrix on a file in memory, smoke profile; `more` goes on with the axes.
  std::string matrix(const std::string& more, const std::string& name = "matrix.yaml") const {
    std::ofstream(path(name)) << "device: loop:512MiB\nmount_point: " << point()
                              << "\ndefaults: {profile: smoke, sparse: true}\n"
                              << more;
    return path(name);
  }

  CommandResult mongo_matrix(const Arguments& arguments) const {
    Arguments argv{MONGO_PROGRAM, "matrix"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return run(argv);
  }
  CommandResult mongo_matrix_in_results(Arguments arguments) const {
    arguments.insert(arguments.end(), {"--results", results()});
    return mongo_matrix(arguments);
  }

  /// The folders of runs, oldest first; only those that can be taken up.
  std::vector<std::string> runs() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(results())) {
      if (fs::exists(entry.path() / "cells.json")) found.push_back(entry.path().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  static Json status(const std::string& folder) {
    const CommandResult result = run({MONGO_PROGRAM, "status", folder, "--json"});
    EXPECT_EQ(result.exit_status, 0) << result.err;
    return Json::parse(result.out);
  }

  static std::vector<Json> lines(const std::string& file) {
    std::vector<Json> all;
    std::ifstream in(file);
    std::string line;
    while (std::getline(in, line)) all.push_back(Json::parse(line));
    return all;
  }

  /// Every cell of the list has that status, one record among all, and one in its own files.
  void expect_each_once(const std::string& folder, const std::string& expected = "ok") {
    std::map<std::string, int> records;
    for (const Json& record : lines(folder + "/records.jsonl")) ++records[record.at("log")];
    const Json cells = Json::parse(slurp(folder + "/cells.json")).at("cells");
    EXPECT_EQ(records.size(), cells.size());
    for (const Json& cell : cells) {
      const std::string log = cell.at("log");
      EXPECT_EQ(records[log], 1) << log;
      EXPECT_EQ(lines(folder + "/" + log + ".jsonl").size(), 1U) << log;
      // Each block of a run in the other files has its id; a smoke run has one block.
      const std::string text = slurp(folder + "/" + log);
      const std::size_t id = text.find("run_id=");
      EXPECT_NE(id, std::string::npos) << log;
      EXPECT_EQ(text.find("run_id=", id + 1), std::string::npos) << log;
    }
    for (const Json& cell : status(folder).at("cells")) EXPECT_EQ(cell.at("status"), expected) << cell;
  }

  struct Started {
    pid_t pid = -1;
    std::string output;  // file
  };

  /// Starts the program in a process group of its own.
  Started start(Arguments arguments) {
    Started started{-1, path("output" + std::to_string(count_++))};
    arguments.insert(arguments.begin(), MONGO_PROGRAM);
    started.pid = start_program(std::move(arguments), [&] {
      setpgid(0, 0);
      signal(SIGINT, SIG_DFL);  // a shell has its background jobs ignore it
      const int out = open(started.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
      dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
      dup2(out, STDOUT_FILENO);
      dup2(out, STDERR_FILENO);
    });
    return started;
  }

  /// As wait_a_minute_for.
  static int wait_for(const Started& started) { return wait_a_minute_for(started.pid); }

  /// Waits until the phases of that cell, counted from 1, are at work; returns the folder of the run.
  std::string wait_for_cell(int number) const {
    for (int i = 0; i < 6000; ++i, usleep(10'000)) {
      if (runs().empty()) continue;
      const Json now = status(runs().back());
      for (const Json& cell : now.at("running")) {
        if (cell.at("number") >= number && !cell.at("progress").is_null()) return runs().back();
      }
    }
    ADD_FAILURE() << "cell " << number << " does not begin";
    return "";
  }

  static pid_t child_of(pid_t pid) {
    const std::string number = std::to_string(pid);
    const std::string children = slurp("/proc/" + number + "/task/" + number + "/children");
    return children.empty() ? -1 : std::stoi(children);
  }

  std::string devices_folder_;
  int count_ = 0;
};

}  // namespace mongo::test
