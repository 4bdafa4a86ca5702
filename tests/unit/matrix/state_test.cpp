#include "harness/matrix/state.h"

#include <limits>

#include "harness/core/errors.h"
#include "harness/matrix/files.h"
#include "tests/support/comma_locale.h"
#include "tests/support/strict_json.h"
#include "tests/unit/matrix/folder_test.h"

namespace mongo {
namespace {

namespace fs = boost::filesystem;

using StateTest = test::FolderTest;

MatrixState sample() {
  MatrixState state;
  state.run = "20261130T165001Z-1a2b3c";
  state.mongo_version = "0.1.0";
  state.host = "host1";
  state.started_at = "2026-11-30T16:50:01Z";
  state.utc_offset = "+05:30";
  for (const CellStatus status :
       {CellStatus::ok, CellStatus::incomplete, CellStatus::failed, CellStatus::unsupported, CellStatus::skipped,
        CellStatus::interrupted, CellStatus::running, CellStatus::waiting}) {
    CellState cell{"ext4-p1", static_cast<int>(state.cells.size()) + 1, "ext4-p1-r1"};
    cell.status = status;
    if (status != CellStatus::waiting) {
      cell.started_at = "2026-11-30T16:50:02Z";
      cell.utc_offset = "+02:00";
    }
    if (is_done(status)) {
      cell.reason = status == CellStatus::ok ? "" : "a \"reason\"\nwith two lines";
      cell.ended_at = "2026-11-30T16:50:03Z";
      cell.seconds = 1.0 / 3;
      cell.used_bytes = 123456;
    }
    state.cells.push_back(cell);
  }
  return state;
}

TEST_F(StateTest, ComesBackAsItWas) {
  MatrixState state = sample();
  EXPECT_EQ(state_from_text(state_to_text(state), "state"), state);
  state.devices = {{"/dev/disk/by-id/x", "8:16", 1 << 30, "S1", ""}, {"/dev/loop5", "7:5", 4096, "", "/a \"b\""}};
  state.ended_at = "2026-11-30T17:00:00Z";
  state.reason = "interrupted by SIGINT";
  state.cells.clear();
  EXPECT_EQ(state_from_text(state_to_text(state), "state"), state);
}

TEST_F(StateTest, RunsOfEarlierVersionsHaveNoOffsets) {
  std::string text = state_to_text(sample());
  for (const char* field : {",\"utc_offset\":\"+05:30\"", ",\"utc_offset\":\"+02:00\"", ",\"utc_offset\":null"}) {
    ASSERT_NE(text.find(field), std::string::npos) << field;
    for (std::size_t at; (at = text.find(field)) != std::string::npos;) text.erase(at, std::string(field).size());
  }
  const MatrixState state = state_from_text(text, "state");
  EXPECT_EQ(state.utc_offset, "");
  EXPECT_EQ(state.cells[0].utc_offset, "");
  EXPECT_EQ(state.cells[0].started_at, "2026-11-30T16:50:02Z");
}

// Cases 47 and 48.
TEST_F(StateTest, IsJsonForEveryReaderAndInEveryLocale) {
  MatrixState state = sample();
  state.reason = "a \"quote\", \xff and \x1b[2J";
  state.cells[0].seconds = std::numeric_limits<double>::quiet_NaN();
  state.cells[1].seconds = std::numeric_limits<double>::infinity();
  state.cells[2].seconds = 1234567.5;
  const std::string text = state_to_text(state);
  EXPECT_EQ(test::StrictJson::problem(text), "");
  EXPECT_NE(text.find(":1234567.5"), std::string::npos) << text;
  const test::CommaLocale comma;
  EXPECT_EQ(state_to_text(state), text);
  EXPECT_EQ(state_from_text(text, "state").cells[2].seconds, 1234567.5);
}

TEST_F(StateTest, TheTestTellsWhatIsNotStrict) {
  EXPECT_EQ(test::StrictJson::problem("{\"a\":[{\"b\":1,\"c\":2},{\"b\":-0.5}],\"b\":null}"), "");
  for (const char* text : {"", "{\"a\":1,\"b\":{},\"a\":2}", "{\"a\":NaN}", "[Infinity]", "[-Infinity]", "[1e999]",
                           "[2,88", "1 2", "{}\nmkfs: warning", "mkfs: warning\n{}"}) {
    EXPECT_NE(test::StrictJson::problem(text), "") << text;
  }
}

TEST_F(StateTest, WhatIsNoStateIsRefusedByName) {
  const std::string whole = state_to_text(sample());
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{}"), whole.substr(0, whole.size() / 2),
        std::string(whole).replace(whole.find("\"incomplete\""), 12, "\"well\"")}) {
    try {
      state_from_text(text, "/a/state.json");
      ADD_FAILURE() << text;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("/a/state.json"), std::string::npos);
    }
  }
}

TEST_F(StateTest, CountsSayWhatThereIs) {
  EXPECT_EQ(counts_text(count_cells(sample().cells)),
            "1 ok, 1 incomplete, 1 failed, 1 unsupported, 1 skipped, 1 interrupted, 1 running, 1 waiting");
  EXPECT_EQ(counts_text(count_cells({})), "");
}

TEST_F(StateTest, DoneIsWhatIsNotRunAgain) {
  EXPECT_TRUE(is_done(CellStatus::failed));
  EXPECT_TRUE(is_done(CellStatus::unsupported));
  EXPECT_FALSE(is_done(CellStatus::running));
  EXPECT_FALSE(is_done(CellStatus::interrupted));
  EXPECT_FALSE(is_done(CellStatus::waiting));
  EXPECT_FALSE(is_done(CellStatus::skipped));
}

TEST_F(StateTest, FilesAreReplacedAsAWhole) {
  replace_file(path("a"), "one", Durability::synced);
  replace_file(path("a"), "second", Durability::unsynced);
  EXPECT_EQ(get(path("a")), "second");
  EXPECT_FALSE(fs::exists(path("a.new")));
  EXPECT_THROW(replace_file(path("none/a"), "x", Durability::synced), RunError);
  fs::create_directory(path("folder"));
  EXPECT_THROW(replace_file(path("folder"), "x", Durability::synced), RunError);
  EXPECT_FALSE(fs::exists(path("folder.new")));
}

TEST_F(StateTest, ALockIsHeldByOne) {
  EXPECT_FALSE(is_locked(path("lock")));
  Descriptor lock = take_lock(path("lock"), std::chrono::milliseconds(0), nullptr);
  ASSERT_TRUE(static_cast<bool>(lock));
  EXPECT_TRUE(is_locked(path("lock")));
  EXPECT_FALSE(static_cast<bool>(take_lock(path("lock"), std::chrono::milliseconds(50), nullptr)));
  lock = Descriptor();
  EXPECT_FALSE(is_locked(path("lock")));
  EXPECT_TRUE(static_cast<bool>(take_lock(path("lock"), std::chrono::milliseconds(0), nullptr)));
}

TEST_F(StateTest, ALockFileIsAFile) {
  fs::create_directory(path("folder"));
  fs::create_symlink(path("elsewhere"), path("link"));
  for (const char* name : {"folder", "link", "none/lock"}) {
    EXPECT_THROW(take_lock(path(name), std::chrono::milliseconds(0), nullptr), UsageError) << name;
  }
  EXPECT_FALSE(fs::exists(path("elsewhere")));
}

}  // namespace
}  // namespace mongo
