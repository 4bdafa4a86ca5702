#include "harness/matrix/run_folder.h"

#include <cstdlib>
#include <ctime>

#include "harness/core/errors.h"
#include "harness/matrix/files.h"
#include "harness/matrix/status.h"
#include "tests/unit/matrix/folder_test.h"

namespace mongo {
namespace {

namespace fs = boost::filesystem;

class RunFolderTest : public test::FolderTest {
 protected:
  /// The names do not depend on where the machine is.
  void in_zone(const char* zone) {
    setenv("TZ", zone, 1);
    tzset();
  }
  void TearDown() override {
    unsetenv("TZ");
    tzset();
    FolderTest::TearDown();
  }
};

// Case 44; the names' own tests are in tests/unit/run.
TEST_F(RunFolderTest, NamesAreUtcInEveryZone) {
  for (const char* zone : {"Europe/Berlin", "Asia/Kolkata", "America/St_Johns", "UTC"}) {
    in_zone(zone);
    const std::time_t before = std::time(nullptr);
    const RunFolder folder = make_run_folder(folder_);
    EXPECT_EQ(folder.name().find(':'), std::string::npos);
    const auto time = time_of_run_name(folder.name());
    ASSERT_TRUE(time.has_value()) << folder.name();
    EXPECT_GE(*time, before) << zone;
    EXPECT_LE(*time, std::time(nullptr)) << zone;
  }
}

TEST_F(RunFolderTest, SortedByNameIsSortedByTimeWhenTheClockGoesBack) {
  in_zone("Europe/Berlin");
  // 02:30 twice, one hour apart.
  const std::string first = "20261025T003000Z-ffffff", second = "20261025T013000Z-000000";
  std::tm local{};
  for (const std::string& name : {first, second}) {
    const std::time_t time = *time_of_run_name(name);
    localtime_r(&time, &local);
    EXPECT_EQ(local.tm_hour, 2);
    EXPECT_EQ(local.tm_min, 30);
  }
  EXPECT_LT(first, second);
  EXPECT_EQ(*time_of_run_name(second) - *time_of_run_name(first), 3600);
  made_run(second, {});
  made_run(first, {});
  EXPECT_EQ(runs_below(folder_).front().name(), first);
}

TEST_F(RunFolderTest, OnlyNamesOfThatForm) {
  EXPECT_TRUE(is_run_name("20261130T165001Z-1a2b3c"));
  for (const char* name :
       {"", ".", "20261130T165001Z", "20261130T165001Z-1a2b3", "20261130T165001Z-1a2b3cd", "20261130t165001Z-1a2b3c",
        "20261130T165001Z-1A2B3C", "2026113 T165001Z-1a2b3c", "20261130T165001Z-1a2b3/", "20261130T+65001Z-1a2b3c"}) {
    EXPECT_FALSE(is_run_name(name)) << name;
  }
}

TEST_F(RunFolderTest, TwoInOneSecondDiffer) {
  EXPECT_NE(make_run_folder(folder_).path, make_run_folder(folder_).path);
  EXPECT_THROW(make_run_folder(path("none")), RunError);
}

TEST_F(RunFolderTest, RunsAreFoldersThatHoldCells) {
  made_run("20261130T165001Z-1a2b3c", {});
  made_run("20261130T165002Z-1a2b3c", {});
  made_run("other", {});
  fs::create_directory(path("20261130T165003Z-1a2b3c"));
  fs::create_directory_symlink(path("other"), path("20261130T165004Z-1a2b3c"));
  put(path("20261130T165005Z-1a2b3c"), "a file");
  const std::vector<RunFolder> runs = runs_below(folder_);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].name(), "20261130T165001Z-1a2b3c");
  EXPECT_TRUE(runs_below(path("none")).empty());
}

TEST_F(RunFolderTest, FindingOneSaysWhatIsWrong) {
  made_run("20261130T165001Z-1a2b3c", {});
  EXPECT_EQ(find_run_folder(path("20261130T165001Z-1a2b3c") + "/").name(), "20261130T165001Z-1a2b3c");
  const auto message = [&](const std::string& where) {
    try {
      find_run_folder(where);
      return std::string();
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_NE(message(folder_).find("the newest run in it is"), std::string::npos) << message(folder_);
  EXPECT_NE(message(path("none")).find("there is no folder"), std::string::npos);
}

TEST_F(RunFolderTest, StatusTellsTheDeadFromTheLiving) {
  const RunFolder run = made_run("20261130T165001Z-1a2b3c",
                                 {cell("a", 1, CellStatus::ok, 2), cell("a", 2, CellStatus::running), cell("b", 1)});
  MatrixState state = state_from_text(get(run.state_file()), "state");
  state.ended_at.clear();
  state.cells[1].started_at = "2026-11-30T16:50:01Z";
  put(run.state_file(), state_to_text(state));
  put(run.records_file(), "{}\n");
  put(run.progress_file(),
      nlohmann::ordered_json::array({to_json(CellProgress{"a-r2", "Create", 100, 500, 1000, 2})}).dump());
  {
    const Descriptor lock = take_lock(run.lock_file(), std::chrono::milliseconds(0), nullptr);
    const MatrixStatus status = read_status(run);
    EXPECT_TRUE(status.running);
    ASSERT_TRUE(status.overview.has_value());
    ASSERT_EQ(status.overview->running.size(), 1U);
    EXPECT_EQ(status.overview->running[0].number, 2U);
    EXPECT_EQ(status.overview->running[0].progress->phase, "Create");
    EXPECT_EQ(headline(status), "running on here: 1 ok, 1 running, 1 waiting");
    EXPECT_EQ(to_json(status)["state"], "running");
    // As a reader may find it between two cells.
    put(run.progress_file(),
        nlohmann::ordered_json::array({to_json(CellProgress{"a-r1", "Create", 100, 500, 1000, 2})}).dump());
    EXPECT_FALSE(read_status(run).overview->running[0].progress.has_value());
  }
  {
    const Descriptor lock = take_lock(run.cell_lock_file(), std::chrono::milliseconds(0), nullptr);
    EXPECT_EQ(to_json(read_status(run))["state"], "undoing");
  }
  {
    // All is done, and the process calls its hook.
    MatrixState ended = state;
    ended.ended_at = "2026-11-30T17:00:00Z";
    put(run.state_file(), state_to_text(ended));
    const Descriptor lock = take_lock(run.lock_file(), std::chrono::milliseconds(0), nullptr);
    EXPECT_EQ(to_json(read_status(run))["state"], "ended");
    put(run.state_file(), state_to_text(state));
  }
  put(run.records_file(), "");
  EXPECT_NE(headline(read_status(run)).find("records.jsonl lacks the records of 1 of them"), std::string::npos);
  EXPECT_EQ(to_json(read_status(run))["missing_records"], 1);
  put(run.records_file(), "{}\n");
  const MatrixStatus dead = read_status(run);
  EXPECT_FALSE(dead.running);
  EXPECT_FALSE(dead.overview.has_value());
  EXPECT_EQ(dead.state.cells[1].status, CellStatus::interrupted);
  EXPECT_EQ(headline(dead),
            "dead: no process is at it, and it has not ended: 1 ok, 1 interrupted, 1 waiting; go on with: mongo matrix "
            "--resume " +
                run.path);
  EXPECT_EQ(to_json(dead)["state"], "dead");
  EXPECT_EQ(to_json(dead)["counts"]["interrupted"], 1);
}

}  // namespace
}  // namespace mongo
