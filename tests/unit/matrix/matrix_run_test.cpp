// Whole runs in existing directories, which need neither root nor a device.
#include "harness/matrix/matrix_run.h"

#include <signal.h>

#include <functional>
#include <thread>

#include "harness/core/errors.h"
#include "harness/matrix/files.h"
#include "harness/matrix/record_list.h"
#include "harness/matrix/status.h"
#include "harness/report/record_json.h"
#include "tests/unit/matrix/folder_test.h"

namespace mongo {
namespace {

namespace fs = boost::filesystem;

/// Keeps what it is told.
class KeepingObserver : public MatrixObserver {
 public:
  void warning(const std::string& text) override { lines.push_back(text); }
  void progress(const Overview& view) override {
    if (on_progress) on_progress(view);
  }
  void cell_finished(const std::vector<CellState>& cells, std::size_t index) override {
    lines.push_back(cells[index].log);
    if (on_finished) on_finished(index);
  }
  int progress_interval() const override { return 10; }
  std::vector<std::string> lines;
  std::function<void(const Overview&)> on_progress;
  std::function<void(std::size_t)> on_finished;
};

class MatrixRunTest : public test::FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    setenv("MONGO_STATE", path("state").c_str(), 1);
    fs::create_directory(path("work"));
  }
  void TearDown() override {
    EXPECT_TRUE(fs::is_empty(path("work"))) << "a cell has left its files";
    unsetenv("MONGO_STATE");
    FolderTest::TearDown();
  }

  std::string yaml(const std::string& more = "matrix: {processes: [1, 2]}\nrepeats: 2\n") const {
    return "device: none\nmount_point: " + path("work") +
           "\ndefaults: {filesystem: dir, profile: smoke, phases: [create, delete], sync: none}\n" + more;
  }
  MatrixRun begin(const std::string& text) {
    return MatrixRun::begin(plan_cells(parse_matrix(text, "m.yaml"), MatrixOrder::listed, 1), path("results"), watch_);
  }
  /// Each cell once in its own files and once in the list of all.
  void expect_each_once(const MatrixRun& run) const {
    const std::vector<DoneCell> done = read_done_cells(run.folder().records_file());
    EXPECT_EQ(done.size(), run.state().cells.size());
    for (const CellState& cell : run.state().cells) {
      EXPECT_EQ(std::count_if(done.begin(), done.end(), [&](const DoneCell& d) { return d.log == cell.log; }), 1)
          << cell.log;
      const std::string file = run.folder().path + "/" + cell.log + ".jsonl";
      EXPECT_EQ(read_records(file).records.size(), 1U) << cell.log;
    }
  }
  static pid_t child() {
    std::ifstream in("/proc/thread-self/children");
    pid_t pid = 0;
    in >> pid;
    return pid;
  }

  InterruptWatch watch_;
  KeepingObserver observer_;
};

TEST_F(MatrixRunTest, RunsEachCellOnce) {
  MatrixRun run = begin(yaml());
  EXPECT_TRUE(is_locked(run.folder().lock_file()));
  bool progress = false;
  observer_.on_progress = [&](const Overview& view) { progress |= view.running.at(0).progress.has_value(); };
  run.run(observer_);
  EXPECT_EQ(counts_text(count_cells(run.state().cells)), "4 ok") << run.state().cells[0].reason;
  EXPECT_EQ(exit_status(run.state().cells, 0), 0);
  EXPECT_TRUE(progress);
  ASSERT_EQ(observer_.lines.size(), 4U);
  EXPECT_EQ(observer_.lines[3], run.state().cells[3].log);
  expect_each_once(run);
  EXPECT_EQ(get(run.folder().matrix_file()), yaml());
  EXPECT_EQ(state_from_text(get(run.folder().state_file()), "state"), run.state());
  EXPECT_FALSE(run.state().ended_at.empty());
  EXPECT_FALSE(fs::exists(run.folder().progress_file()));
  EXPECT_EQ(read_head(run.folder()).seed, 1U);
}

TEST_F(MatrixRunTest, WhatIsDoneIsNotRunAgain) {
  RunFolder folder;
  {
    MatrixRun run = begin(yaml());
    folder = run.folder();
    // As a kill leaves it: the second cell has its results and no record, the third has a record and no state.
    observer_.on_finished = [&](std::size_t index) {
      if (index == 2) watch_.raise(SIGTERM);
    };
    run.run(observer_);
    EXPECT_EQ(exit_status(run.state().cells, SIGTERM), 128 + SIGTERM);
    EXPECT_EQ(counts_text(count_cells(run.state().cells)), "3 ok, 1 waiting");
    const InterruptWatch other;
    EXPECT_THROW(MatrixRun::take_up(folder, read_cells(folder, ""), other), Error) << "two at one run";
    MatrixState state = run.state();
    state.cells[1].status = state.cells[2].status = CellStatus::running;
    put(folder.state_file(), state_to_text(state));
  }
  std::string records = get(folder.records_file());
  const std::size_t first = records.find('\n') + 1, second = records.find('\n', first) + 1;
  put(folder.records_file(), records.substr(0, first) + records.substr(second) + records.substr(0, 1000));

  const InterruptWatch watch;
  MatrixRun again = MatrixRun::take_up(folder, read_cells(folder, ""), watch);
  EXPECT_EQ(counts_text(count_cells(again.state().cells)), "2 ok, 2 waiting");
  KeepingObserver observer;
  again.run(observer);
  ASSERT_EQ(observer.lines.size(), 3U);
  EXPECT_NE(observer.lines[0].find("was cut short, as by a crash"), std::string::npos) << observer.lines[0];
  EXPECT_EQ(observer.lines[1], again.state().cells[1].log);
  EXPECT_EQ(observer.lines[2], again.state().cells[3].log);
  EXPECT_EQ(counts_text(count_cells(again.state().cells)), "4 ok");
  EXPECT_EQ(again.state().reason, "");
  expect_each_once(again);
}

TEST_F(MatrixRunTest, AnInterruptedCellIsUndoneAndHasNoRecord) {
  MatrixRun run = begin(yaml());
  observer_.on_progress = [&](const Overview& view) {
    if (view.running.at(0).number == 2 && view.running[0].progress) watch_.raise(SIGINT);
  };
  run.run(observer_);
  EXPECT_EQ(counts_text(count_cells(run.state().cells)), "1 ok, 1 interrupted, 2 waiting");
  EXPECT_EQ(exit_status(run.state().cells, watch_.signal_number()), 130);
  EXPECT_EQ(read_done_cells(run.folder().records_file()).size(), 1U);
  EXPECT_NE(run.state().reason, "");
}

TEST_F(MatrixRunTest, ACrashSpoilsNoOtherCell) {
  MatrixRun run = begin(yaml());
  observer_.on_progress = [&](const Overview& view) {
    if (view.running.at(0).number == 2 && view.running[0].progress) kill(child(), SIGSEGV);
  };
  run.run(observer_);
  EXPECT_EQ(counts_text(count_cells(run.state().cells)), "3 ok, 1 failed");
  EXPECT_NE(run.state().cells[1].reason.find("killed by signal 11 (Segmentation fault)"), std::string::npos)
      << run.state().cells[1].reason;
  EXPECT_EQ(exit_status(run.state().cells, 0), 1);
  expect_each_once(run);
  // What a crash leaves in a directory is not what this is about.
  for (const auto& entry : fs::directory_iterator(path("work"))) fs::remove_all(entry.path());
}

TEST_F(MatrixRunTest, ACellThatIsToldToEndIsAFailedOne) {
  MatrixRun run = begin(yaml());
  observer_.on_progress = [&](const Overview& view) {
    if (view.running.at(0).number == 1 && view.running[0].progress) kill(child(), SIGTERM);
  };
  run.run(observer_);
  EXPECT_EQ(run.state().cells[0].status, CellStatus::failed);
  EXPECT_NE(run.state().cells[0].reason.find("told to end"), std::string::npos) << run.state().cells[0].reason;
  EXPECT_EQ(count_cells(run.state().cells).ok, 3);
}

TEST_F(MatrixRunTest, WhatIsRefusedIsSkippedAndTheOthersGoOn) {
  fs::remove(path("work"));
  RunFolder folder;
  {
    MatrixRun run = begin(yaml("matrix: {processes: [1, 2]}\n"));
    folder = run.folder();
    observer_.on_finished = [&](std::size_t) { fs::create_directories(path("work")); };
    run.run(observer_);
    EXPECT_EQ(counts_text(count_cells(run.state().cells)), "1 ok, 1 skipped");
    EXPECT_EQ(run.state().cells[0].status, CellStatus::skipped);
    EXPECT_NE(run.state().cells[0].reason, "");
    EXPECT_EQ(exit_status(run.state().cells, 0), 1);
  }
  MatrixRun again = MatrixRun::take_up(folder, read_cells(folder, ""), watch_);
  again.run(observer_);
  EXPECT_EQ(counts_text(count_cells(again.state().cells)), "2 ok");
  expect_each_once(again);
}

TEST_F(MatrixRunTest, WithoutItsStateARunGoesOnByItsRecords) {
  RunFolder folder;
  {
    MatrixRun run = begin(yaml());
    folder = run.folder();
    observer_.on_finished = [&](std::size_t index) {
      if (index == 1) watch_.raise(SIGTERM);
    };
    run.run(observer_);
  }
  for (const bool there : {true, false}) {
    if (there) put(folder.state_file(), "garbage");
    if (!there) fs::remove(folder.state_file());
    const InterruptWatch watch;
    MatrixRun again = MatrixRun::take_up(folder, read_cells(folder, ""), watch);
    EXPECT_EQ(count_cells(again.state().cells).ok, 2) << there;
    KeepingObserver observer;
    if (there) continue;
    again.run(observer);
    EXPECT_NE(observer.lines.at(0).find("state.json"), std::string::npos) << observer.lines.at(0);
    EXPECT_EQ(observer.lines.at(0).find("json.exception"), std::string::npos) << observer.lines.at(0);
    EXPECT_EQ(counts_text(count_cells(again.state().cells)), "4 ok");
    expect_each_once(again);
  }
}

TEST_F(MatrixRunTest, ResultsThatCannotBeWrittenEndTheRun) {
  MatrixRun run = begin(yaml());
  observer_.on_finished = [&](std::size_t index) {
    // A folder in the place of the next cell's log.
    if (index == 0) fs::create_directories(run.folder().path + "/" + run.state().cells[1].log + "/x");
  };
  EXPECT_THROW(run.run(observer_), RunError);
  EXPECT_EQ(counts_text(count_cells(run.state().cells)), "1 ok, 3 waiting");
  const MatrixState state = state_from_text(get(run.folder().state_file()), "state");
  EXPECT_NE(state.reason.find("results: "), std::string::npos) << state.reason;
  EXPECT_EQ(state.cells[1].status, CellStatus::waiting);
}

TEST_F(MatrixRunTest, AChangedMatrixIsNoticed) {
  RunFolder folder;
  {
    MatrixRun run = begin(yaml());
    folder = run.folder();
    run.run(observer_);
  }
  const auto problem = [&](const std::string& text) {
    put(path("given.yaml"), text);
    try {
      read_cells(folder, path("given.yaml"));
      return std::string();
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(problem(yaml()), "");
  EXPECT_EQ(problem("# the same in other words\n" + yaml("matrix:\n  processes: [2, 1]\nrepeats: 2\n")), "");
  EXPECT_NE(problem(yaml("matrix: {processes: [1, 3]}\nrepeats: 2\n")).find("has no cell"), std::string::npos);
  EXPECT_NE(problem(yaml("matrix: {processes: [1, 2]}\nrepeats: 3\n")).find("has a further cell"), std::string::npos);
  EXPECT_NE(problem(yaml("matrix: {processes: [1, 2]}\nrepeats: 1\n")).find("has no cell"), std::string::npos);
  EXPECT_NE(problem("a: [").find("given.yaml"), std::string::npos);
  // The run's own copy as well.
  put(folder.matrix_file(), yaml("matrix: {processes: [1, 4]}\nrepeats: 2\n"));
  EXPECT_THROW(MatrixRun::take_up(folder, read_cells(folder, ""), watch_), UsageError);
}

TEST_F(MatrixRunTest, NothingIsLeftOfARunThatCannotBegin) {
  put(path("file"), "");
  EXPECT_THROW(MatrixRun::begin(plan_cells(parse_matrix(yaml(), "m"), MatrixOrder::listed, 1), path("file"), watch_),
               Error);
  EXPECT_THROW(MatrixRun::begin({}, path("results"), watch_), UsageError);
  EXPECT_FALSE(fs::exists(path("results")));
}

TEST_F(MatrixRunTest, TheSeedMakesTheOrder) {
  const Matrix matrix = parse_matrix(yaml("matrix: {processes: [1, 2, 3, 4, 5, 6, 7, 8]}\n"), "m");
  const auto logs = [&](std::uint64_t seed) {
    std::string all;
    for (const ListedCell& cell : plan_cells(matrix, MatrixOrder::shuffled, seed).cells) all += cell.cell.log + "\n";
    return all;
  };
  EXPECT_EQ(logs(5), logs(5));
  EXPECT_NE(logs(5), logs(6));
}

TEST(ExitStatusTest, FailedWinsOverIncomplete) {
  const auto status = [](std::vector<CellStatus> all, int signal = 0) {
    std::vector<CellState> cells;
    for (const CellStatus one : all) cells.push_back({"a", 1, "a-r1", one});
    return exit_status(cells, signal);
  };
  using enum CellStatus;
  EXPECT_EQ(status({ok, ok}), 0);
  EXPECT_EQ(status({ok, unsupported}), 0);
  EXPECT_EQ(status({ok, incomplete}), 5);
  EXPECT_EQ(status({failed, incomplete}), 1);
  EXPECT_EQ(status({ok, skipped}), 1);
  EXPECT_EQ(status({failed, interrupted, waiting}, SIGINT), 130);
  // The signal came when all was done.
  EXPECT_EQ(status({failed, ok}, SIGINT), 1);
}

}  // namespace
}  // namespace mongo
