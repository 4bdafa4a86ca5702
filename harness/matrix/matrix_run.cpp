#include "harness/matrix/matrix_run.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>

#include "harness/core/errors.h"
#include "harness/device/journal.h"
#include "harness/matrix/files.h"
#include "harness/matrix/planned_device.h"
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
constexpr auto earlier_cells_patience = 5min;
/// Seldom, so that what is measured is not disturbed.
constexpr auto between_progress_files = 5s;
constexpr auto cleanup_patience = 30s;

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

/// Nothing when it was not measured.
std::optional<std::uint64_t> most_used_bytes(const RunRecord& record) {
  std::optional<std::uint64_t> most;
  for (const PassRecord& pass : record.passes) {
    for (const PhaseRecord& phase : pass.phases) {
      if (phase.used_kib) most = std::max(most.value_or(0), *phase.used_kib * 1024);
    }
  }
  return most;
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
  const std::time_t now = std::time(nullptr);
  state_.started_at = utc_text(now);
  state_.utc_offset = utc_offset(now);
  state_.cells = waiting_cells(list_);
  needs_.resize(list_.cells.size());
}

MatrixRun MatrixRun::begin(CellList list, const std::string& results, const InterruptWatch& watch) {
  if (list.cells.empty()) throw UsageError("the matrix has no cells");
  check_results_writable(results, list.cells.front().cell.log);
  const RunFolder folder = make_run_folder(results);
  try {
    MatrixRun run(folder, std::move(list), lock_run(folder, watch), watch);
    run.state_.devices = look_at_devices(run.list_.cells, run.list_.folder);
    pin_devices(run.list_.cells, run.state_.devices);
    run.warnings_ = same_under_two_names(run.state_.devices);
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

MatrixRun MatrixRun::take_up(const RunFolder& folder, CellList list, const InterruptWatch& watch) {
  MatrixRun run(folder, std::move(list), lock_run(folder, watch), watch);
  try {
    run.take_over(state_from_text(read_whole_file(folder.state_file()), folder.state_file()));
  } catch (const UsageError& error) {
    // What is done stands in the records.
    run.warnings_.push_back(fmt::format("{}. It is made anew: what is done stands in the records", error.what()));
    run.state_.devices = look_at_devices(run.list_.cells, run.list_.folder);
  }
  pin_devices(run.list_.cells, run.state_.devices);
  if (cut_torn_line(folder.records_file())) {
    run.warnings_.push_back(fmt::format("the last line of {} was cut short, as by a crash: its cell is run again",
                                        one_line(folder.records_file())));
  }
  run.state_.cells = states_to_resume(std::move(run.state_.cells), read_done_cells(folder.records_file()));
  return run;
}

void MatrixRun::take_over(MatrixState before) {
  state_.started_at = before.started_at;
  state_.utc_offset = before.utc_offset;
  state_.devices = std::move(before.devices);
  for (const PlannedDevice& now : look_at_devices(list_.cells, list_.folder)) {
    for (PlannedDevice& device : state_.devices) {
      // The number of a disk may have changed, and one that was not there may have come; another disk is found out
      // before its first cell.
      if (device.given == now.given && (device.major_minor.empty() || same_disk(device, now))) device = now;
    }
  }
  // The cells are those of the list; what the earlier state knows of them is taken over.
  for (std::size_t i = 0; i < std::min(before.cells.size(), state_.cells.size()); ++i) {
    if (before.cells[i].log == state_.cells[i].log) state_.cells[i] = before.cells[i];
  }
}

void MatrixRun::save() {
  view_.reset();
  replace_file(folder_.state_file(), state_to_text(state_), Durability::synced);
}

void MatrixRun::allow_side_by_side() {
  needs_ = needs_of(list_.cells, list_.folder);
  separate_mount_points(list_.cells, needs_);
}

void MatrixRun::run(MatrixObserver& observer) {
  for (const std::string& warning : warnings_) observer.warning(warning);
  earlier_ = learn_from(folder_.results(), folder_.name());
  try {
    run_cells(observer);
    if (const int signal = watch_->signal_number(); signal != 0) state_.reason = Interrupted(signal).what();
  } catch (const Error& error) {
    state_.reason = error.what();
    at_work_.clear();
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
  // What an earlier, killed process of this run has started may still undo its work.
  if (!take_lock(folder_.cell_lock_file(), earlier_cells_patience, watch_)) {
    throw RunError("results", "a cell of an earlier process of this run is still at work in its folder");
  }
  while (true) {
    if (watch_->signal_number() == 0) start_cells(observer);
    if (at_work_.empty()) return;
    wait_for_news();
    if (const int signal = watch_->signal_number(); signal != 0 && !interrupted_) {
      interrupted_ = true;
      for (const Work& work : at_work_) work.process->interrupt(signal);
    }
    take_news(observer);
  }
}

void MatrixRun::start_cells(MatrixObserver& observer) {
  while (const std::optional<std::size_t> index = next_cell(state_.cells, needs_)) {
    const Cell& planned = list_.cells[*index].cell;
    if (const auto why = why_another_device(state_.devices, planned.device, list_.folder)) {
      skip(*index, *why, observer);
      continue;
    }
    CellState& cell = state_.cells[*index];
    const std::time_t now = std::time(nullptr);
    cell = CellState{cell.id, cell.repeat, cell.log, CellStatus::running, "", utc_text(now)};
    cell.utc_offset = utc_offset(now);
    save();
    // A killed process may have added its results and no record: they would be there twice.
    remove_results_of(cell.log);
    const CellJob job{&planned, list_.folder, folder_.cell_lock_file(), lock_.get(), observer.progress_interval()};
    at_work_.push_back({*index, std::make_unique<CellProcess>(job), false, std::nullopt});
    if (at_work_.size() > 1) {
      for (Work& work : at_work_) work.beside_others = true;
    }
  }
}

void MatrixRun::skip(std::size_t index, const std::string& reason, MatrixObserver& observer) {
  CellState& cell = state_.cells[index];
  cell = CellState{cell.id, cell.repeat, cell.log, CellStatus::skipped, reason};
  save();
  observer.cell_finished(state_.cells, index);
}

void MatrixRun::wait_for_news() const {
  // The watch stays readable: afterwards there is nothing more to learn from it.
  std::vector<pollfd> polled{{interrupted_ ? -1 : watch_->descriptor(), POLLIN, 0}};
  for (const Work& work : at_work_) {
    polled.push_back({work.process->end_descriptor(), POLLIN, 0});
    polled.push_back({work.process->news_descriptor(), POLLIN, 0});
  }
  poll(polled.data(), polled.size(), 1000);
}

void MatrixRun::take_news(MatrixObserver& observer) {
  bool new_phase = false;
  for (std::size_t i = 0; i < at_work_.size();) {
    Work& work = at_work_[i];
    if (const std::optional<CellProgress> news = work.process->news()) {
      new_phase = new_phase || !work.progress || work.progress->phase != news->phase ||
                  work.progress->median_file_size_bytes != news->median_file_size_bytes;
      work.progress = news;
    }
    std::optional<CellOutcome> outcome = work.process->outcome();
    if (!outcome) {
      ++i;
      continue;
    }
    Work ended = std::move(work);
    at_work_.erase(at_work_.begin() + static_cast<std::ptrdiff_t>(i));
    end_work(ended, std::move(*outcome), observer);
  }
  if (!at_work_.empty()) tell_progress(new_phase, observer);
}

void MatrixRun::tell_progress(bool new_phase, MatrixObserver& observer) {
  if (!view_) view_ = overview(state_.cells, earlier_);
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Work& work : at_work_) {
    if (work.progress) all.push_back(to_json(*work.progress));
    for (RunningCell& cell : view_->running) {
      if (cell.number != work.index + 1) continue;
      cell.elapsed = work.process->elapsed_seconds();
      cell.progress = work.progress;
    }
  }
  observer.progress(*view_);
  const auto now = Clock::now();
  if (all.empty() || (!new_phase && now - progress_written_ < between_progress_files)) return;
  progress_written_ = now;
  try {
    replace_file(folder_.progress_file(), all.dump() + "\n", Durability::unsynced);
  } catch (const RunError&) {
    // For people only; that there is no room is found out soon enough.
  }
}

void MatrixRun::end_work(Work& work, CellOutcome outcome, MatrixObserver& observer) {
  if (!outcome.results_problem.empty()) {
    const std::string prefix = "results: ";
    const bool has_prefix = outcome.results_problem.starts_with(prefix);
    throw RunError("results", outcome.results_problem.substr(has_prefix ? prefix.size() : 0));
  }
  if (!outcome.refusal.empty()) return skip(work.index, outcome.refusal, observer);
  RunRecord& record = outcome.record;
  if (work.beside_others) record.flags.emplace_back("side-by-side");
  if (outcome.died) clean_up_after_crash(record);
  if (record.status == Status::interrupted && watch_->signal_number() == 0) {
    // Somebody ended that process alone; the others go on.
    record.status = Status::failed;
    record.reason = "the cell's process was told to end: " + record.reason;
  }
  CellState& cell = state_.cells[work.index];
  if (record.status != Status::interrupted) {
    append_run(folder_.path, cell.log, record);
    // From here on the cell is done.
    add_record(folder_.records_file(), record);
  }
  cell.seconds = outcome.seconds;
  cell.used_bytes = most_used_bytes(record);
  cell.status = cell_status(record.status);
  cell.reason = record.reason;
  cell.ended_at = utc_now();
  save();
  observer.cell_finished(state_.cells, work.index);
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
  if (counts.failed + counts.skipped > 0) return static_cast<int>(ExitStatus::failed);
  if (counts.incomplete > 0) return static_cast<int>(ExitStatus::incomplete);
  return static_cast<int>(ExitStatus::ok);
}

}  // namespace mongo
