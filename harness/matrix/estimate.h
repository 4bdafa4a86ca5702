#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/matrix/state.h"

namespace mongo {

/// How long cells take, by those that have been run.
class TimeEstimates {
 public:
  /// Cells without a time, and those that were not run to their end, teach nothing.
  void add(const CellState& cell);
  /// The mean of the cells with the same id, else of all; nothing when there was none.
  std::optional<double> of(const std::string& id) const;
  /// The mean of the cells with the same id only.
  std::optional<double> of_same(const std::string& id) const;

 private:
  struct Sum {
    double seconds = 0;
    int cells = 0;
    std::optional<double> mean() const { return cells == 0 ? std::nullopt : std::optional(seconds / cells); }
  };
  std::map<std::string, Sum> by_id_;
  Sum all_;
};

/// What the newest runs below `results` teach. Runs that cannot be read are passed over.
TimeEstimates earlier_times(const std::string& results);

/// Where a run is, for people.
struct Overview {
  std::size_t number = 0, cells = 0;  // of the current cell, from 1, and how many there are
  std::string log;                    // of the current cell
  double elapsed = 0;                 // seconds since its start
  std::optional<CellProgress> progress;
  std::optional<double> cell_seconds, rest_seconds;  // of the whole cell, and of those after it; nothing: not known

  std::optional<double> cell_seconds_left() const;
  std::optional<double> seconds_left() const;
};

/// At the start of the running cell. Nothing where no cell is running.
std::optional<Overview> overview(const std::vector<CellState>& cells);

/// "12.3 s", "4:05", "1:02:03"
std::string duration_text(double seconds);
/// "cell 3 of 12: Create 100 bytes, 45939 files/s, 12.0 s left (all: 4:10), ext4-p2-r1"
std::string overview_line(const Overview& overview);
/// "3 of 12  ext4-p2-r1  ok  12.3 s"; the columns as wide as the longest of all cells.
std::string finished_line(const std::vector<CellState>& cells, std::size_t index);

}  // namespace mongo
