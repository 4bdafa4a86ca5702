// What counts as done after a process ended in whatever way.
#include "harness/core/errors.h"
#include "harness/matrix/record_list.h"
#include "harness/report/record_json.h"
#include "tests/unit/matrix/folder_test.h"

namespace mongo {
namespace {

class ResumeTest : public test::FolderTest {
 protected:
  static RunRecord record(const std::string& log, Status status, const std::string& reason = "") {
    RunRecord made;
    made.run_id = "20261130T165001Z-1a2b3c";
    made.filesystem = "ext4";
    made.log = log;
    made.status = status;
    made.reason = reason;
    made.started_at = "2026-11-30T16:50:01Z";
    made.ended_at = "2026-11-30T16:50:05Z";
    made.utc_offset = "+05:30";
    PhaseRecord& phase = made.passes.emplace_back().phases.emplace_back();
    phase.name = "create";
    phase.label = "Create";
    return made;
  }
  std::string list() const { return path("records.jsonl"); }
};

TEST_F(ResumeTest, RecordsSayWhatIsDone) {
  put(list(), "");
  EXPECT_TRUE(read_done_cells(list()).empty());
  add_record(list(), record("a-r1", Status::ok));
  add_record(list(), record("b-r1", Status::failed, "mkfs: no"));
  const std::vector<DoneCell> done = read_done_cells(list());
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[0].log, "a-r1");
  EXPECT_EQ(done[0].status, CellStatus::ok);
  EXPECT_EQ(done[0].reason, "");
  EXPECT_EQ(done[1].status, CellStatus::failed);
  EXPECT_EQ(done[1].reason, "mkfs: no");
  EXPECT_EQ(done[1].ended_at, "2026-11-30T16:50:05Z");
  EXPECT_EQ(done[1].utc_offset, "+05:30");
  EXPECT_EQ(read_records(list()).records.size(), 2U);
}

TEST_F(ResumeTest, ALineWithoutItsEndIsNoRecordAndIsCutOff) {
  put(list(), "");
  add_record(list(), record("a-r1", Status::ok));
  const std::string whole = get(list());
  // Also one that is all there but for the line end.
  const std::string second = to_json_line(record("b-r1", Status::ok));
  for (const std::size_t size : {std::size_t{1}, second.size() / 2, second.size()}) {
    put(list(), whole + second.substr(0, size));
    EXPECT_EQ(read_done_cells(list()).size(), 1U);
    cut_torn_line(list());
    EXPECT_EQ(get(list()), whole);
  }
  cut_torn_line(list());
  EXPECT_EQ(get(list()), whole);
}

TEST_F(ResumeTest, ALongTornLineIsCutOffToo) {
  for (const std::string& before : {std::string(), std::string("{}\n"), std::string(70000, 'x') + "\n"}) {
    put(list(), before + std::string(300000, 'y'));
    cut_torn_line(list());
    EXPECT_EQ(get(list()), before);
  }
}

TEST_F(ResumeTest, SomethingElseIsNotTakenForRecords) {
  put(list(), "{}\n");
  EXPECT_THROW(read_done_cells(list()), UsageError);
  put(list(), "hello\n");
  EXPECT_THROW(read_done_cells(list()), UsageError);
}

TEST_F(ResumeTest, TheRecordDecides) {
  using enum CellStatus;
  const std::vector<CellState> states = states_to_resume(
      {cell("done", 1, ok, 3), cell("state-not-written", 1, running), cell("no-record", 1, running),
       cell("interrupted", 1, interrupted), cell("never-begun", 1), cell("claims-it", 1, ok, 4),
       cell("failed", 1, failed, 1), cell("unsupported", 1, unsupported, 0)},
      {{"done-r1", ok, "", "", "", ""},
       {"state-not-written-r1", incomplete, "no room", "2026-11-30T16:50:01Z", "2026-11-30T16:50:05Z", "+05:30"},
       {"failed-r1", failed, "", "", "", ""},
       {"unsupported-r1", unsupported, "", "", "", ""}});
  const std::vector<CellStatus> expected{ok, incomplete, waiting, waiting, waiting, waiting, failed, unsupported};
  for (std::size_t i = 0; i < states.size(); ++i) EXPECT_EQ(states[i].status, expected[i]) << states[i].log;
  EXPECT_EQ(states[0].seconds, 3);
  EXPECT_EQ(states[1].reason, "no room");
  EXPECT_EQ(states[1].ended_at, "2026-11-30T16:50:05Z");
  EXPECT_EQ(states[1].utc_offset, "+05:30");
  EXPECT_EQ(states[5].seconds, std::nullopt);
}

TEST_F(ResumeTest, ARepeatIsACellOfItsOwn) {
  const std::vector<CellState> states =
      states_to_resume({cell("a", 1, CellStatus::running), cell("a", 2)}, {{"a-r1", CellStatus::ok, "", "", "", ""}});
  EXPECT_EQ(states[0].status, CellStatus::ok);
  EXPECT_EQ(states[1].status, CellStatus::waiting);
}

}  // namespace
}  // namespace mongo
