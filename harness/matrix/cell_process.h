#pragma once

#include <sys/types.h>

#include <chrono>
#include <ctime>
#include <optional>
#include <string>

#include "harness/core/descriptor.h"
#include "harness/core/record.h"
#include "harness/matrix/state.h"
#include "harness/plan/cell.h"

namespace mongo {

/// What a cell's process is to do.
struct CellJob {
  const Cell* cell = nullptr;
  std::string folder;         // to run it in: where relative names are meant
  std::string lock_file;      // a shared lock on it is held until that process and all that it started have ended
  int close_descriptor = -1;  // of this process's own, not to be kept open there
  int progress_interval = 0;  // milliseconds
};

struct CellOutcome {
  RunRecord record;
  bool died = false;            // without a record of its own; then it is failed with how that was
  std::string results_problem;  // the results cannot be written: the cell was not run
  std::string refusal;          // why device or mount point were refused: nothing was touched, and there is no record
  double seconds = 0;
};

/// A cell that is run in a process of its own, so that its crash, its mount namespace and its signals are not ours.
/// When this process is killed, the cell is interrupted and undone all the same.
class CellProcess {
 public:
  /// Starts it. Must be called while this process has no other thread. Throws RunError.
  explicit CellProcess(const CellJob& job);
  /// If it still runs, it is interrupted, and its undoing waited for.
  ~CellProcess();
  CellProcess(const CellProcess&) = delete;
  CellProcess& operator=(const CellProcess&) = delete;

  /// Are readable when it has ended, and when there is news.
  int end_descriptor() const { return pidfd_.get(); }
  int news_descriptor() const { return news_.get(); }

  /// How far it is; nothing when that has not changed.
  std::optional<CellProgress> news();
  /// It undoes what it did and ends.
  void interrupt(int signal) const;
  /// Nothing while it runs. Afterwards once.
  std::optional<CellOutcome> outcome();
  double elapsed_seconds() const;

 private:
  CellOutcome make_outcome(int status) const;

  const Cell* cell_;
  std::chrono::steady_clock::time_point start_;
  std::time_t started_;
  Descriptor news_, news_end_, answer_file_, pidfd_;
  std::string text_;  // of the news, not yet a whole line
  pid_t pid_ = -1;
};

}  // namespace mongo
