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

void Estimates::add(const CellState& cell) {
  if (!teaches(cell)) return;
  for (Sum* sum : {&by_id_[cell.id], &all_}) {
    sum->seconds += *cell.seconds;
    ++sum->cells;
    if (cell.used_bytes) sum->used_bytes = std::max(sum->used_bytes.value_or(0), *cell.used_bytes);
  }
}

std::optional<double> Estimates::seconds_of_same(const std::string& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? std::nullopt : found->second.mean();
}

std::optional<std::uint64_t> Estimates::used_bytes_of_same(const std::string& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? std::nullopt : found->second.used_bytes;
}

Estimates learn_from(const std::string& results, const std::string& except) {
  Estimates estimates;
  std::vector<RunFolder> runs = runs_below(results);
  std::erase_if(runs, [&](const RunFolder& run) { return run.name() == except; });
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

std::optional<double> RunningCell::seconds_left() const {
  return seconds && elapsed <= *seconds ? std::optional(*seconds - elapsed) : std::nullopt;
}

std::optional<double> Overview::seconds_left() const {
  if (!rest_seconds || running.empty()) return std::nullopt;
  double sum = *rest_seconds;
  for (const RunningCell& cell : running) {
    sum += std::max(0.0, cell.seconds.value_or(mean_seconds.value_or(0)) - cell.elapsed);
  }
  return sum / static_cast<double>(running.size());
}

std::optional<Overview> overview(const std::vector<CellState>& cells, Estimates earlier) {
  for (const CellState& cell : cells) earlier.add(cell);
  Overview view;
  view.cells = cells.size();
  view.mean_seconds = earlier.mean_seconds();
  double rest = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const CellState& cell = cells[i];
    const std::optional<double> seconds = earlier.seconds_of_same(cell.id);
    if (cell.status == CellStatus::running) {
      view.running.push_back({i + 1, cell.log, 0, std::nullopt, seconds});
    } else if (cell.status == CellStatus::waiting || cell.status == CellStatus::interrupted) {
      rest += seconds.value_or(view.mean_seconds.value_or(0));
    } else {
      continue;
    }
    view.guessed = view.guessed || !seconds;
  }
  if (view.running.empty()) return std::nullopt;
  if (view.mean_seconds) view.rest_seconds = rest;
  return view;
}

std::string duration_text(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(seconds + 0.5);
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string overview_line(const Overview& view) {
  const std::optional<double> all = view.seconds_left();
  std::string line;
  for (const RunningCell& cell : view.running) {
    line += fmt::format("{}cell {} of {}: ", line.empty() ? "" : "; ", cell.number, view.cells);
    if (cell.progress) {
      line += fmt::format("{} {} bytes, ", cell.progress->phase, cell.progress->median_file_size_bytes);
      if (const auto rate = cell.progress->files_per_second()) line += fmt::format("{:.0f} files/s, ", *rate);
    }
    const std::optional<double> left = cell.seconds_left();
    line += left ? duration_text(*left) + " left" : "time left unknown";
    if (all) line += fmt::format(" (all: {}{})", view.guessed ? "about " : "", duration_text(*all));
    line += ", ";
    // Last, because it is long, and what is cut off by a narrow terminal is its least telling part.
    line += cell.log;
  }
  return line;
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
