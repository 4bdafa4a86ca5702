#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "harness/core/descriptor.h"
#include "harness/core/interrupt.h"
#include "harness/matrix/cell_list.h"
#include "harness/matrix/cell_process.h"
#include "harness/matrix/estimate.h"
#include "harness/matrix/next_cell.h"
#include "harness/matrix/run_folder.h"
#include "harness/matrix/state.h"

namespace mongo {

/// Beside those of ExitStatus: another process is at it, and nothing was touched.
inline constexpr int locked_status = 6;

/// Is told how a run of a matrix goes on.
class MatrixObserver {
 public:
  virtual ~MatrixObserver() = default;
  virtual void warning(const std::string& text) = 0;
  /// About once a second and whenever there is news.
  virtual void progress(const Overview& overview) = 0;
  virtual void cell_finished(const std::vector<CellState>& cells, std::size_t index) = 0;
  /// How often news of the running phase are wanted, in milliseconds.
  virtual int progress_interval() const = 0;
};

/// Runs the cells of a list, each in a process of its own, and keeps its folder such that the run can be taken up again
/// after whatever end.
class MatrixRun {
 public:
  /// A new run below `results`. Throws UsageError or RunError("results", ...); nothing is left behind then.
  static MatrixRun begin(CellList list, const std::string& results, const InterruptWatch& watch);
  /// Takes up an earlier run: finished cells stay, half-done ones are run whole. list: as read_cells gives it. Throws
  /// UsageError; Error with locked_status when a process is at it.
  static MatrixRun take_up(const RunFolder& folder, CellList list, const InterruptWatch& watch);

  /// Cells on different disks run at the same time, and are marked with the flag side-by-side; otherwise all run one
  /// after another.
  void allow_side_by_side();

  /// Runs what is to be run. Throws RunError("results", ...) when the results cannot be written; the cells at work are
  /// undone before.
  void run(MatrixObserver& observer);

  const RunFolder& folder() const { return folder_; }
  const MatrixState& state() const { return state_; }
  const CellList& list() const { return list_; }

 private:
  /// A cell at work.
  struct Work {
    std::size_t index;
    std::unique_ptr<CellProcess> process;
    bool beside_others;
    std::optional<CellProgress> progress;
  };

  MatrixRun(RunFolder folder, CellList list, Descriptor lock, const InterruptWatch& watch);
  void run_cells(MatrixObserver& observer);
  void start_cells(MatrixObserver& observer);
  /// The cell was not run: its device or mount point is refused, or not that which was there when the run began.
  void skip(std::size_t index, const std::string& reason, MatrixObserver& observer);
  void take_over(MatrixState before);
  void wait_for_news() const;
  void take_news(MatrixObserver& observer);
  void end_work(Work& work, CellOutcome outcome, MatrixObserver& observer);
  void tell_progress(bool new_phase, MatrixObserver& observer);
  void remove_results_of(const std::string& log) const;
  void clean_up_after_crash(RunRecord& record) const;
  void save();

  RunFolder folder_;
  CellList list_;
  MatrixState state_;
  Descriptor lock_;
  const InterruptWatch* watch_;
  std::vector<CellNeeds> needs_;  // of each cell; as made, each is alone
  std::vector<Work> at_work_;
  Estimates earlier_;                  // from other runs
  std::optional<Overview> view_;       // of state_; nothing when that has changed
  std::vector<std::string> warnings_;  // to be told at the start
  bool interrupted_ = false;           // those at work know
  std::chrono::steady_clock::time_point progress_written_{};
};

/// What belongs to these cells: 0 when all are done and none is failed, incomplete or skipped; failed and skipped win
/// over incomplete. signal: the one that ended the run, or 0.
int exit_status(const std::vector<CellState>& cells, int signal);

}  // namespace mongo
