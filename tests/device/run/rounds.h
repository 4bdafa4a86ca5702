#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "harness/measure/space.h"
#include "harness/run/phase_result.h"
#include "harness/workers/workers.h"
#include "phases/catalogue.h"
#include "phases/support/tree.h"

namespace mongo::test {

/// Phases on a mounted file system, one repetition each, judged as the tool does it.
struct Rounds {
  phases::TreeParameters tree;
  int processes = 1;
  std::size_t write_buffer_size = 4096;
  bool sync_each = false;
  std::chrono::milliseconds deadline{60'000};
  std::string point;

  Rounds() = default;
  ~Rounds() { leave(); }
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  void enter(const std::string& mount_point) {
    point = mount_point;
    root_ = open(point.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT_GE(root_, 0) << point;
  }
  void leave() {
    if (root_ >= 0) close(root_);
    root_ = -1;
  }
  int root() const { return root_; }

  RepetitionRequest request(const char* name) const {
    RepetitionRequest request;
    request.phase = phases::find(name);
    request.processes = processes;
    request.mount_fd = root_;
    request.mount_path = point;
    request.tree = tree;
    request.write_buffer_size = write_buffer_size;
    request.sync_each = sync_each;
    request.deadline = deadline;
    return request;
  }

  RepetitionResult repetition(const char* name) const { return run_repetition(request(name), watch_); }

  PhaseRecord run(const char* name) {
    const phases::Phase& phase = *phases::find(name);
    phases::Expectation expectation;
    expectation.files_per_tree = files_per_tree();
    expectation.trees = static_cast<std::uint64_t>(processes);
    expectation.copied = ran_.contains("copy");
    expectation.linked = ran_.contains("symlink");
    const std::uint64_t planned = phase.planned_files(expectation) * expectation.trees;
    const RepetitionResult done = repetition(name);
    PhaseRecord record = judge_phase(phase, planned, {done}, read_space(root_), trouble_);
    ran_.insert(name);
    if (record.status != Status::ok && trouble_.empty()) trouble_ = name;
    return record;
  }

  /// Compares what the phase left.
  void verify(PhaseRecord& record) {
    RepetitionRequest comparison = request(record.name.c_str());
    comparison.verify = true;
    judge_verification(record, {run_repetition(comparison, watch_)});
  }

  std::uint64_t files_per_tree() const { return phases::plan_tree(tree).files; }

 private:
  int root_ = -1;
  InterruptWatch watch_;
  std::set<std::string> ran_;
  std::string trouble_;
};

/// The files of a tree: their paths in it and their sizes.
inline std::map<std::string, std::uint64_t> planned_files(const phases::TreeParameters& tree) {
  struct {
    std::map<std::string, std::uint64_t> files;
    std::string folder;
    void file(std::uint64_t number, std::uint64_t size) { files[folder + std::to_string(number)] = size; }
    void enter_directory(std::uint64_t number) { folder += "d" + std::to_string(number) + "/"; }
    void leave_directory() { folder.erase(folder.rfind('/', folder.size() - 2) + 1); }
  } visitor;
  phases::generate_tree(tree, visitor);
  return visitor.files;
}

/// How many of them lie below a folder with their full size, looked at with nothing of the tool.
inline std::uint64_t complete_files(const std::string& folder, const phases::TreeParameters& tree) {
  std::uint64_t complete = 0;
  for (const auto& [name, size] : planned_files(tree)) {
    struct stat status {};
    const bool there = stat((folder + "/" + name).c_str(), &status) == 0;
    complete += there && static_cast<std::uint64_t>(status.st_size) == size;
  }
  return complete;
}

/// The processes that a process has started and that are still known to the kernel.
inline std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  DIR* const proc = opendir("/proc");
  while (const dirent* entry = readdir(proc)) {
    const auto pid = static_cast<pid_t>(strtol(entry->d_name, nullptr, 10));
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    // "PID (NAME) STATE PPID": the name may hold anything.
    if (pid <= 0 || !std::getline(file, text) || text.rfind(')') == std::string::npos) continue;
    if (strtol(text.c_str() + text.rfind(')') + 3, nullptr, 10) == parent) children.push_back(pid);
  }
  closedir(proc);
  return children;
}

/// No time, and none in its place.
inline void expect_no_time(const PhaseRecord& record) {
  EXPECT_FALSE(record.seconds.has_value()) << record.reason;
  EXPECT_TRUE(record.repetition_seconds.empty());
  EXPECT_FALSE(record.cpu_percent.has_value());
  EXPECT_NE(record.status, Status::ok);
  EXPECT_NE(record.reason, "");
}

/// "create ENOSPC x3 testdir1-1-1/4; ..."
inline std::string errors_text(const PhaseRecord& record) {
  std::string text;
  for (const ErrorRecord& error : record.errors) {
    text += (text.empty() ? "" : "; ") + error.operation + " " + error.name + " x" + std::to_string(error.count) + " " +
            error.first_path;
  }
  return text;
}

}  // namespace mongo::test

namespace mongo {
inline void PrintTo(Status status, std::ostream* out) { *out << status_name(status); }
}  // namespace mongo
