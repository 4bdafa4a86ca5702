#include "harness/matrix/estimate.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/errors.h"
#include "harness/matrix/files.h"
#include "harness/matrix/run_folder.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

constexpr std::size_t runs_to_learn_from = 20;

bool teaches(const CellState& cell) {
  return cell.seconds && (cell.status == CellStatus::ok || cell.status == CellStatus::incomplete);
}

}  // namespace

void TimeEstimates::add(const CellState& cell) {
  if (!teaches(cell)) return;
  for (Sum* sum : {&by_id_[cell.id], &all_}) {
    sum->seconds += *cell.seconds;
    ++sum->cells;
  }
}

std::optional<double> TimeEstimates::of_same(const std::string& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? std::nullopt : found->second.mean();
}

std::optional<double> TimeEstimates::of(const std::string& id) const {
  const std::optional<double> same = of_same(id);
  return same ? same : all_.mean();
}

TimeEstimates earlier_times(const std::string& results) {
  TimeEstimates estimates;
  std::vector<RunFolder> runs = runs_below(results);
  if (runs.size() > runs_to_learn_from) runs.erase(runs.begin(), runs.end() - runs_to_learn_from);
  for (const RunFolder& run : runs) {
    try {
      for (const CellState& cell : state_from_text(read_whole_file(run.state_file()), run.state_file()).cells) {
        estimates.add(cell);
      }
    } catch (const UsageError&) {
      continue;
    }
  }
  return estimates;
}

std::optional<double> Overview::cell_seconds_left() const {
  return cell_seconds ? std::optional(std::max(0.0, *cell_seconds - elapsed)) : std::nullopt;
}

std::optional<double> Overview::seconds_left() const {
  const std::optional<double> cell = cell_seconds_left();
  return cell && rest_seconds ? std::optional(*cell + *rest_seconds) : std::nullopt;
}

std::optional<Overview> overview(const std::vector<CellState>& cells) {
  const auto current =
      std::find_if(cells.begin(), cells.end(), [](const CellState& c) { return c.status == CellStatus::running; });
  if (current == cells.end()) return std::nullopt;
  TimeEstimates estimates;
  for (const CellState& cell : cells) estimates.add(cell);
  Overview view;
  view.number = static_cast<std::size_t>(current - cells.begin()) + 1;
  view.cells = cells.size();
  view.log = current->log;
  view.cell_seconds = estimates.of(current->id);
  if (!view.cell_seconds) return view;
  // Once there is a mean of all, there is one for each.
  view.rest_seconds = 0;
  for (const CellState& cell : cells) {
    if (cell.status == CellStatus::waiting || cell.status == CellStatus::interrupted) {
      *view.rest_seconds += estimates.of(cell.id).value_or(0);
    }
  }
  return view;
}

std::string duration_text(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(seconds + 0.5);
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string overview_line(const Overview& view) {
  std::string line = fmt::format("cell {} of {}: ", view.number, view.cells);
  if (view.progress) {
    line += fmt::format("{} {} bytes, ", view.progress->phase, view.progress->median_file_size_bytes);
    if (const auto rate = view.progress->files_per_second()) line += fmt::format("{:.0f} files/s, ", *rate);
  }
  const std::optional<double> cell = view.cell_seconds_left(), all = view.seconds_left();
  if (cell && all) {
    line += fmt::format("{} left (all: {}), ", duration_text(*cell), duration_text(*all));
  } else {
    line += "time left unknown, ";
  }
  // Last, because it is long, and what is cut off by a narrow terminal is its least telling part.
  return line + view.log;
}

std::string finished_line(const std::vector<CellState>& cells, std::size_t index) {
  std::size_t widest = 0;
  for (const CellState& cell : cells) widest = std::max(widest, cell.log.size());
  const CellState& cell = cells.at(index);
  const std::string total = std::to_string(cells.size());
  std::string line = fmt::format("{:>{}} of {}  {:<{}}  {:<11}", index + 1, total.size(), total, cell.log, widest,
                                 cell_status_name(cell.status));
  line += "  " + (cell.seconds ? duration_text(*cell.seconds) : std::string(no_value));
  if (!cell.reason.empty()) line += "  " + one_line(cell.reason);
  return line;
}

}  // namespace mongo
