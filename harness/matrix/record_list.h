#pragma once

#include <string>
#include <vector>

#include "harness/core/record.h"
#include "harness/matrix/state.h"

namespace mongo {

/// What records.jsonl says of a cell.
struct DoneCell {
  std::string log;
  CellStatus status = CellStatus::ok;
  std::string reason, started_at, ended_at, utc_offset;
};

/// The cells that have a record. A last line without its end, as after a kill, is no record. Throws UsageError for a
/// file that cannot be read or holds something else.
std::vector<DoneCell> read_done_cells(const std::string& path);

/// Cuts off a last line without its end; whether there was one. Throws RunError("results", ...).
bool cut_torn_line(const std::string& path);

/// How many whole lines there are, without looking into them; 0 for a file that cannot be read.
std::size_t count_records(const std::string& path);

/// Adds the record as a line, on disk when this returns; with that the cell is done. When it fails the file is cut back
/// to what it was. Throws RunError("results", ...).
void add_record(const std::string& path, const RunRecord& record);

/// The states after a process ended in whatever way: a cell is done when it has a record, else it waits.
std::vector<CellState> states_to_resume(std::vector<CellState> cells, const std::vector<DoneCell>& done);

}  // namespace mongo
