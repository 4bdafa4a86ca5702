#include "harness/matrix/status.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "harness/core/errors.h"
#include "harness/core/quote.h"
#include "harness/matrix/files.h"
#include "harness/matrix/record_list.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

using Json = nlohmann::ordered_json;

/// Since a time as utc_now() writes it; 0 for any other text and for the future.
double seconds_since(const std::string& utc) {
  std::tm time{};
  if (strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time) == nullptr) return 0;
  return std::max(0.0, std::difftime(std::time(nullptr), timegm(&time)));
}

/// What the processes of the running cells last told; none when the cells have just ended.
std::vector<CellProgress> read_progress(const RunFolder& folder) {
  std::vector<CellProgress> all;
  if (access(folder.progress_file().c_str(), R_OK) != 0) return all;
  try {
    for (const Json& item : Json::parse(read_whole_file(folder.progress_file()), nullptr, false)) {
      if (const auto progress = progress_from_json(item)) all.push_back(*progress);
    }
  } catch (const UsageError&) {
  }
  return all;
}

void add_what_is_known(Overview& view, const MatrixState& state, const std::vector<CellProgress>& all) {
  for (RunningCell& cell : view.running) {
    cell.elapsed = seconds_since(state.cells[cell.number - 1].started_at);
    for (const CellProgress& progress : all) {
      if (progress.log == cell.log) cell.progress = progress;
    }
  }
}

bool anything_left(const MatrixStatus& status) {
  return status.missing_records > 0 || std::any_of(status.state.cells.begin(), status.state.cells.end(),
                                                   [](const CellState& cell) { return !is_done(cell.status); });
}

std::string how_to_go_on(const MatrixStatus& status) {
  return anything_left(status) ? "; go on with: " + quote_argv({"mongo", "matrix", "--resume", status.folder.path})
                               : "";
}

}  // namespace

MatrixStatus read_status(const RunFolder& folder) {
  MatrixStatus status;
  status.folder = folder;
  status.head = read_head(folder);
  // The locks first: what ends between the two looks is shown as running, and not as killed.
  status.running = is_locked(folder.lock_file());
  status.undoing = !status.running && is_locked(folder.cell_lock_file());
  status.state = state_from_text(read_whole_file(folder.state_file()), folder.state_file());
  // Afterwards it only calls the hook and removes old runs.
  status.running = status.running && status.state.ended_at.empty();
  if (status.running) {
    status.overview = overview(status.state.cells, learn_from(folder.results(), folder.name()));
    if (status.overview) add_what_is_known(*status.overview, status.state, read_progress(folder));
    return status;
  }
  const std::size_t records = count_records(folder.records_file());
  const auto done = static_cast<std::size_t>(count_cells(status.state.cells).done());
  status.missing_records = done > records ? done - records : 0;
  for (CellState& cell : status.state.cells) {
    if (cell.status != CellStatus::running) continue;
    cell.status = CellStatus::interrupted;
    cell.reason = "the process that ran the matrix is gone";
  }
  return status;
}

std::string headline(const MatrixStatus& status) {
  std::string counts = counts_text(count_cells(status.state.cells));
  if (status.missing_records > 0) {
    counts += fmt::format(", and records.jsonl lacks the records of {} of them", status.missing_records);
  }
  if (status.running) {
    return fmt::format("running on {}: {}", status.state.host.empty() ? "a host" : one_line(status.state.host), counts);
  }
  if (status.undoing) {
    return fmt::format("killed, and its last cell is still being undone: {}{}", counts, how_to_go_on(status));
  }
  if (status.state.ended_at.empty()) {
    return fmt::format("dead: no process is at it, and it has not ended: {}{}", counts, how_to_go_on(status));
  }
  const std::string reason = status.state.reason.empty() ? "" : " (" + one_line(status.state.reason) + ")";
  return fmt::format("ended{}: {}{}", reason, counts, how_to_go_on(status));
}

Json to_json(const MatrixStatus& status) {
  const StatusCounts counts = count_cells(status.state.cells);
  const auto text = [](const std::string& value) { return value.empty() ? Json(nullptr) : Json(valid_utf8(value)); };
  const auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  Json running = Json::array();
  for (const RunningCell& cell : status.overview ? status.overview->running : std::vector<RunningCell>()) {
    running.push_back({{"number", cell.number},
                       {"log", cell.log},
                       {"progress", cell.progress ? to_json(*cell.progress) : Json(nullptr)},
                       {"seconds_left", number(cell.seconds_left())}});
  }
  Json cells = Json::array();
  for (const CellState& cell : status.state.cells) cells.push_back(to_json(cell));
  return {{"run", status.state.run},
          {"folder", valid_utf8(status.folder.path)},
          {"matrix", text(status.head.matrix_path)},
          {"order", status.head.order},
          {"seed", status.head.seed},
          {"mongo_version", status.state.mongo_version},
          {"host", text(status.state.host)},
          {"state", status.running                  ? "running"
                    : status.undoing                ? "undoing"
                    : status.state.ended_at.empty() ? "dead"
                                                    : "ended"},
          {"started_at", text(status.state.started_at)},
          {"ended_at", text(status.state.ended_at)},
          {"utc_offset", text(status.state.utc_offset)},
          {"reason", text(status.state.reason)},
          {"counts",
           {{"cells", status.state.cells.size()},
            {"waiting", counts.waiting},
            {"running", counts.running},
            {"ok", counts.ok},
            {"incomplete", counts.incomplete},
            {"failed", counts.failed},
            {"unsupported", counts.unsupported},
            {"skipped", counts.skipped},
            {"interrupted", counts.interrupted}}},
          {"missing_records", status.missing_records},
          {"running", running},
          {"seconds_left", number(status.overview ? status.overview->seconds_left() : std::nullopt)},
          {"seconds_left_guessed", status.overview ? Json(status.overview->guessed) : Json(nullptr)},
          {"cells", cells}};
}

}  // namespace mongo
