#include "harness/matrix/matrix_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "harness/core/errors.h"
#include "harness/device/journal.h"
#include "harness/matrix/cell_process.h"
#include "harness/matrix/files.h"
#include "harness/matrix/record_list.h"
#include "harness/measure/host.h"
#include "harness/report/append.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Longer than `mongo status` looks at a lock.
constexpr auto lock_patience = 2s;
/// Seldom, so that what is measured is not disturbed.
constexpr auto between_progress_files = 5s;
constexpr auto cleanup_patience = 30s;

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

Descriptor lock_run(const RunFolder& folder, const InterruptWatch& watch) {
  Descriptor lock = take_lock(folder.lock_file(), lock_patience, &watch);
  if (!lock) {
    throw Error(static_cast<ExitStatus>(locked_status),
                fmt::format("{} is being run by another process; see mongo status", one_line(folder.path)));
  }
  return lock;
}

}  // namespace

MatrixRun::MatrixRun(RunFolder folder, CellList list, Descriptor lock, const InterruptWatch& watch)
    : folder_(std::move(folder)), list_(std::move(list)), lock_(std::move(lock)), watch_(&watch) {
  for (ListedCell& planned : list_.cells) planned.cell.results = folder_.path;
  state_.run = folder_.name();
  state_.mongo_version = MONGO_VERSION;
  state_.host = host_name();
  state_.started_at = utc_now();
  state_.cells = waiting_cells(list_);
}

MatrixRun MatrixRun::begin(CellList list, const std::string& results, const InterruptWatch& watch) {
  if (list.cells.empty()) throw UsageError("the matrix has no cells");
  check_results_writable(results, list.cells.front().cell.log);
  const RunFolder folder = make_run_folder(results);
  try {
    MatrixRun run(folder, std::move(list), lock_run(folder, watch), watch);
    replace_file(folder.matrix_file(), run.list_.matrix, Durability::synced);
    replace_file(folder.records_file(), "", Durability::synced);
    run.save();
    // The last one: a folder with it can be taken up again.
    replace_file(folder.cells_file(), to_text(run.list_, folder.name()), Durability::synced);
    return run;
  } catch (...) {
    for (const std::string& file :
         {folder.cells_file(), folder.matrix_file(), folder.records_file(), folder.state_file(), folder.lock_file()}) {
      unlink(file.c_str());
    }
    rmdir(folder.path.c_str());
    throw;
  }
}

MatrixRun MatrixRun::take_up(const RunFolder& folder, const std::string& matrix_path, const InterruptWatch& watch) {
  CellList list = read_cells(folder, matrix_path);
  MatrixRun run(folder, std::move(list), lock_run(folder, watch), watch);
  const MatrixState before = state_from_text(read_whole_file(folder.state_file()), folder.state_file());
  run.state_.started_at = before.started_at;
  // The cells are those of the list; what the earlier state knows of them is taken over.
  for (std::size_t i = 0; i < std::min(before.cells.size(), run.state_.cells.size()); ++i) {
    if (before.cells[i].log == run.state_.cells[i].log) run.state_.cells[i] = before.cells[i];
  }
  cut_torn_line(folder.records_file());
  run.state_.cells = states_to_resume(std::move(run.state_.cells), read_done_cells(folder.records_file()));
  return run;
}

void MatrixRun::save() const { replace_file(folder_.state_file(), state_to_text(state_), Durability::synced); }

void MatrixRun::run(MatrixObserver& observer) {
  try {
    run_cells(observer);
    if (const int signal = watch_->signal_number(); signal != 0) state_.reason = Interrupted(signal).what();
  } catch (const Error& error) {
    state_.reason = error.what();
    for (CellState& cell : state_.cells) {
      if (cell.status == CellStatus::running) cell = CellState{cell.id, cell.repeat, cell.log};
    }
    state_.ended_at = utc_now();
    unlink(folder_.progress_file().c_str());
    try {
      save();
    } catch (const Error&) {
      // Where there is no room there is none for this; what is there serves to take the run up again.
    }
    throw;
  }
  state_.ended_at = utc_now();
  unlink(folder_.progress_file().c_str());
  save();
}

void MatrixRun::run_cells(MatrixObserver& observer) {
  for (std::size_t i = 0; i < state_.cells.size(); ++i) {
    if (watch_->signal_number() != 0) return;
    if (!is_done(state_.cells[i].status)) run_one(i, observer);
  }
}

void MatrixRun::run_one(std::size_t index, MatrixObserver& observer) {
  CellState& cell = state_.cells[index];
  cell = CellState{cell.id, cell.repeat, cell.log, CellStatus::running, "", utc_now()};
  save();
  // A killed process may have added its results and no record: they would be there twice.
  remove_results_of(cell.log);

  const auto start = Clock::now();
  auto written = start - between_progress_files;
  Overview view = overview(state_.cells).value();
  const auto on_progress = [&](const std::optional<CellProgress>& news) {
    const bool new_phase = news && (!view.progress || view.progress->phase != news->phase ||
                                    view.progress->median_file_size_bytes != news->median_file_size_bytes);
    if (news) view.progress = news;
    view.elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    observer.progress(view);
    if (!news || (!new_phase && Clock::now() - written < between_progress_files)) return;
    written = Clock::now();
    try {
      replace_file(folder_.progress_file(), to_json(*news).dump() + "\n", Durability::unsynced);
    } catch (const RunError&) {
      // For people only; that there is no room is found out soon enough.
    }
  };
  const CellJob job{&list_.cells[index].cell, list_.folder, folder_.cell_lock_file(), lock_.get(),
                    observer.progress_interval()};
  CellOutcome outcome = run_in_own_process(job, *watch_, on_progress);
  if (!outcome.results_problem.empty()) {
    const std::string prefix = "results: ";
    const bool has_prefix = outcome.results_problem.starts_with(prefix);
    throw RunError("results", outcome.results_problem.substr(has_prefix ? prefix.size() : 0));
  }
  cell.seconds = outcome.seconds;
  if (outcome.died) clean_up_after_crash(outcome.record);
  if (outcome.record.status == Status::interrupted && watch_->signal_number() == 0) {
    // Somebody ended that process alone; the others go on.
    outcome.record.status = Status::failed;
    outcome.record.reason = "the cell's process was told to end: " + outcome.record.reason;
  }
  finish(index, outcome.record, observer);
}

void MatrixRun::finish(std::size_t index, const RunRecord& record, MatrixObserver& observer) {
  CellState& cell = state_.cells[index];
  if (record.status != Status::interrupted) {
    append_run(folder_.path, cell.log, record);
    // From here on the cell is done.
    add_record(folder_.records_file(), record);
  }
  cell.status = cell_status(record.status);
  cell.reason = record.reason;
  cell.ended_at = utc_now();
  save();
  observer.cell_finished(state_.cells, index);
}

void MatrixRun::remove_results_of(const std::string& log) const {
  for (const std::string& name : result_files(log)) {
    const std::string path = folder_.path + "/" + name;
    if (unlink(path.c_str()) != 0 && errno != ENOENT) {
      throw RunError("results", fmt::format("cannot remove {}, of a run of this cell that was not finished: {}",
                                            one_line(path), errno_text(errno)));
    }
  }
}

void MatrixRun::clean_up_after_crash(RunRecord& record) const {
  if (geteuid() != 0) return;
  const CleanupReport report = clean_up(state_folder(), cleanup_patience);
  for (const std::string& text : report.undone) record.notes.push_back("left by this cell's process: " + text);
  for (const std::string& text : report.left) record.reason += "; not undone: " + text;
}

int exit_status(const std::vector<CellState>& cells, int signal) {
  const StatusCounts counts = count_cells(cells);
  if (signal != 0 && counts.done() != static_cast<int>(cells.size())) return 128 + signal;
  if (counts.failed > 0) return static_cast<int>(ExitStatus::failed);
  if (counts.incomplete > 0) return static_cast<int>(ExitStatus::incomplete);
  return static_cast<int>(ExitStatus::ok);
}

}  // namespace mongo
