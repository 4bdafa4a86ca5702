#include "harness/matrix/estimate.h"

#include "tests/unit/matrix/folder_test.h"

namespace mongo {
namespace {

using enum CellStatus;
using EstimateTest = test::FolderTest;

TEST_F(EstimateTest, TheSameParametersFirstThenAll) {
  Estimates estimates;
  EXPECT_EQ(estimates.mean_seconds(), std::nullopt);
  estimates.add(cell("a", 1, ok, 2));
  estimates.add(cell("a", 2, incomplete, 4));
  estimates.add(cell("b", 1, ok, 12));
  // What was not run to its end says nothing about how long it takes.
  estimates.add(cell("a", 3, failed, 1000));
  estimates.add(cell("a", 4, unsupported, 0));
  estimates.add(cell("a", 5, ok));
  EXPECT_EQ(estimates.seconds_of_same("a"), 3);
  EXPECT_EQ(estimates.mean_seconds(), 6);
  EXPECT_EQ(estimates.seconds_of_same("c"), std::nullopt);
}

TEST_F(EstimateTest, EarlierRunsTeach) {
  made_run("20261130T165001Z-1a2b3c", {cell("a", 1, ok, 2), cell("b", 1, failed, 2)});
  made_run("20261130T165002Z-1a2b3c", {cell("a", 1, ok, 4)});
  put(made_run("20261130T165003Z-1a2b3c", {}).state_file(), "broken");
  const Estimates estimates = learn_from(folder_);
  EXPECT_EQ(estimates.seconds_of_same("a"), 3);
  EXPECT_EQ(estimates.seconds_of_same("b"), std::nullopt);
  EXPECT_EQ(learn_from(path("none")).mean_seconds(), std::nullopt);
  EXPECT_EQ(learn_from(folder_, "20261130T165002Z-1a2b3c").seconds_of_same("a"), 2);
}

TEST_F(EstimateTest, TimeLeftOfTheCellAndTheWhole) {
  std::vector<CellState> cells{cell("a", 1, running), cell("a", 2), cell("b", 1)};
  auto view = overview(cells);
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->seconds_left(), std::nullopt);
  EXPECT_EQ(overview_line(*view), "cell 1 of 3: time left unknown, a-r1");

  cells = {cell("a", 1, ok, 10), cell("a", 2, CellStatus::running), cell("b", 1), cell("a", 3, interrupted)};
  view = overview(cells);
  ASSERT_TRUE(view.has_value());
  RunningCell& running = view->running.at(0);
  running.progress = CellProgress{"a-r2", "Create", 100, 500, 1000, 2};
  running.elapsed = 4;
  EXPECT_EQ(running.seconds_left(), 6);
  EXPECT_EQ(view->seconds_left(), 26);
  EXPECT_EQ(overview_line(*view), "cell 2 of 4: Create 100 bytes, 250 files/s, 6.0 s left (all: about 26.0 s), a-r2");
  // Longer than the others: how much longer is not known.
  running.elapsed = 40;
  EXPECT_EQ(running.seconds_left(), std::nullopt);
  EXPECT_EQ(view->seconds_left(), 20);
  EXPECT_EQ(overview_line(*view),
            "cell 2 of 4: Create 100 bytes, 250 files/s, time left unknown (all: about 20.0 s), a-r2");
  EXPECT_FALSE(overview({cell("a", 1, ok, 1)}).has_value());
}

TEST_F(EstimateTest, OfCellsSideBySideTheWholeTakesTheirShare) {
  std::vector<CellState> cells{cell("a", 1, ok, 10), cell("a", 2, CellStatus::running),
                               cell("b", 1, CellStatus::running), cell("b", 2), cell("b", 3, skipped)};
  auto view = overview(cells);
  ASSERT_TRUE(view.has_value());
  ASSERT_EQ(view->running.size(), 2U);
  EXPECT_EQ(view->running[1].number, 3U);
  view->running[0].elapsed = 4;
  EXPECT_EQ(view->seconds_left(), (6 + 10 + 10) / 2.0);
  EXPECT_EQ(
      overview_line(*view),
      "cell 2 of 5: 6.0 s left (all: about 13.0 s), a-r2; cell 3 of 5: time left unknown (all: about 13.0 s), b-r1");
}

TEST_F(EstimateTest, EarlierRunsCountForTheTimeLeft) {
  Estimates earlier;
  earlier.add(cell("a", 1, ok, 4));
  earlier.add(cell("b", 1, ok, 20));
  const auto view = overview({cell("a", 1, CellStatus::running), cell("b", 1)}, earlier);
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->running.at(0).seconds_left(), 4);
  EXPECT_EQ(view->seconds_left(), 24);
  EXPECT_FALSE(view->guessed);
}

TEST_F(EstimateTest, WhatWasUsedIsTheMostOfTheSame) {
  Estimates estimates;
  std::vector<CellState> cells{cell("a", 1, ok, 1), cell("a", 2, ok, 1), cell("b", 1, ok, 1), cell("a", 3, failed, 1)};
  cells[0].used_bytes = 10;
  cells[1].used_bytes = 30;
  cells[3].used_bytes = 50;
  for (const CellState& one : cells) estimates.add(one);
  EXPECT_EQ(estimates.used_bytes_of_same("a"), 30U);
  EXPECT_EQ(estimates.used_bytes_of_same("b"), std::nullopt);
  EXPECT_EQ(estimates.used_bytes_of_same("c"), std::nullopt);
}

TEST_F(EstimateTest, ProgressComesBackAsItWas) {
  const CellProgress progress{"a-r2", "Create", 100, 500, 1000, 2};
  const auto back = progress_from_json(to_json(progress));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(to_json(*back), to_json(progress));
  EXPECT_FALSE(progress_from_json({{"log", 1}}).has_value());
  EXPECT_FALSE(progress_from_json(nullptr).has_value());
}

TEST_F(EstimateTest, Lines) {
  EXPECT_EQ(duration_text(0), "0.0 s");
  EXPECT_EQ(duration_text(12.34), "12.3 s");
  EXPECT_EQ(duration_text(245.2), "4:05");
  EXPECT_EQ(duration_text(3723), "1:02:03");
  std::vector<CellState> cells(12, cell("ext4-p2", 1, ok, 12.3));
  EXPECT_EQ(finished_line(cells, 2), " 3 of 12  ext4-p2-r1  ok           12.3 s");
  cells[2].status = failed;
  cells[2].reason = "mkfs: no\nroom";
  EXPECT_EQ(finished_line(cells, 2), " 3 of 12  ext4-p2-r1  failed       12.3 s  mkfs: no\\nroom");
}

}  // namespace
}  // namespace mongo
