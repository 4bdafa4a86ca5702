#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/record.h"

namespace mongo {

/// How far a cell is.
enum class CellStatus { waiting, running, ok, incomplete, failed, unsupported, skipped, interrupted };
const char* cell_status_name(CellStatus status);
CellStatus cell_status(Status status);
/// Has been run to an end, and is not to be run again.
bool is_done(CellStatus status);

/// One cell in the order of running.
struct CellState {
  std::string id;
  int repeat = 1;
  std::string log;  // "ID-rREPEAT"
  CellStatus status = CellStatus::waiting;
  std::string reason = {};                       // why it is not ok; empty otherwise
  std::string started_at = {}, ended_at = {};    // UTC; empty when it has not
  std::optional<double> seconds = {};            // from its start to the last undo
  std::optional<std::uint64_t> used_bytes = {};  // the most that its file system used, over the empty one
  std::string utc_offset = {};                   // of the local time at its start: "+01:00"
  bool operator==(const CellState&) const = default;
};

/// A block device as it was when the run began.
struct PlannedDevice {
  std::string given;        // as in the matrix file
  std::string major_minor;  // empty: there was none
  std::uint64_t size_bytes = 0;
  std::string serial = {}, backing = {};  // empty where there is none
  bool operator==(const PlannedDevice&) const = default;
};

/// state.json
struct MatrixState {
  std::string run;            // the folder's name
  std::string mongo_version;  // of the process that ran it last
  std::string host;           // where that was
  std::string started_at, ended_at;
  std::string utc_offset;  // of the local time at the start: "+01:00"; empty: not known
  std::string reason;      // why it ended before its last cell; empty when it did not
  std::vector<PlannedDevice> devices;
  std::vector<CellState> cells;
  bool operator==(const MatrixState&) const = default;
};

std::string state_to_text(const MatrixState& state);
/// Throws UsageError; `name` stands for the file in it.
MatrixState state_from_text(const std::string& text, const std::string& name);

/// A cell as an object, as in state.json.
nlohmann::ordered_json to_json(const CellState& cell);

/// How many cells have each status.
struct StatusCounts {
  int waiting = 0, running = 0, ok = 0, incomplete = 0, failed = 0, unsupported = 0, skipped = 0, interrupted = 0;
  int done() const { return ok + incomplete + failed + unsupported; }
};
StatusCounts count_cells(const std::vector<CellState>& cells);
/// "10 ok, 1 failed, 1 unsupported": those that are not 0.
std::string counts_text(const StatusCounts& counts);

/// Where a running cell is; progress.json is a list of them.
struct CellProgress {
  std::string log;    // of the cell
  std::string phase;  // "Create"
  std::uint64_t median_file_size_bytes = 0;
  std::uint64_t files_done = 0, files_planned = 0;
  double seconds = 0;  // since the start of the phase
  std::optional<double> files_per_second() const;
};

nlohmann::ordered_json to_json(const CellProgress& progress);
/// Nothing for a text that is none: it is for people only.
std::optional<CellProgress> progress_from_json(const nlohmann::ordered_json& json);

}  // namespace mongo
