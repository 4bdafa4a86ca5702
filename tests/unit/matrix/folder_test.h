#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/filesystem.hpp>
#include <fstream>
#include <sstream>
#include <string>

#include "harness/matrix/run_folder.h"
#include "harness/matrix/state.h"

namespace mongo::test {

namespace fs = boost::filesystem;

/// A test with a folder of its own.
class FolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // In memory where that can be: nothing of this is about the disk.
    std::string name = std::string(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + "/mongo-matrix-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = fs::canonical(name).string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  static void put(const std::string& file, const std::string& text) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
  }
  static std::string get(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

  static CellState cell(const std::string& id, int repeat, CellStatus status = CellStatus::waiting,
                        std::optional<double> seconds = std::nullopt) {
    return {id, repeat, id + "-r" + std::to_string(repeat), status, "", "", "", seconds};
  }

  /// A run as one that has ended leaves it.
  RunFolder made_run(const std::string& name, const std::vector<CellState>& cells) const {
    const RunFolder run{path(name)};
    fs::create_directories(run.path);
    put(run.matrix_file(), "a matrix\n");
    put(run.cells_file(), R"({"schema":1,"order":"listed","matrix":"m.yaml","seed":7,"cells":[]})");
    put(run.records_file(), "");
    put(run.lock_file(), "");
    MatrixState state;
    state.run = name;
    state.mongo_version = "0.1.0";
    state.host = "here";
    state.started_at = state.ended_at = "2026-11-30T16:50:01Z";
    state.cells = cells;
    put(run.state_file(), state_to_text(state));
    return run;
  }

  std::string folder_;
};

}  // namespace mongo::test
