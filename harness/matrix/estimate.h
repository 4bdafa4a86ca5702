#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/matrix/state.h"

namespace mongo {

/// How long cells take and how much they use, by those that have been run.
class Estimates {
 public:
  /// Cells that were not run to their end teach nothing.
  void add(const CellState& cell);
  /// Mean of all cells; nothing when there was none.
  std::optional<double> mean_seconds() const { return all_.mean(); }
  /// Mean of the cells with the same id only.
  std::optional<double> seconds_of_same(const std::string& id) const;
  /// The most that a cell with the same id used on its device.
  std::optional<std::uint64_t> used_bytes_of_same(const std::string& id) const;

 private:
  struct Sum {
    double seconds = 0;
    int cells = 0;
    std::optional<std::uint64_t> used_bytes;
    std::optional<double> mean() const { return cells == 0 ? std::nullopt : std::optional(seconds / cells); }
  };
  std::map<std::string, Sum> by_id_;
  Sum all_;
};

/// What the newest runs below `results` teach, but for the one called `except`. Runs that cannot be read are passed
/// over.
Estimates learn_from(const std::string& results, const std::string& except = "");

/// A cell that is running, for people.
struct RunningCell {
  std::size_t number = 0;  // in the order of all, from 1
  std::string log;
  double elapsed = 0;  // seconds since its start
  std::optional<CellProgress> progress;
  std::optional<double> seconds;  // that others with the same parameters took; nothing: there were none

  /// Nothing when not known, and once it takes longer than the others.
  std::optional<double> seconds_left() const;
};

/// Where a run is, for people.
struct Overview {
  std::size_t cells = 0;  // how many there are
  std::vector<RunningCell> running;
  std::optional<double> rest_seconds;  // of the cells that wait; nothing: not known
  std::optional<double> mean_seconds;  // of all cells that were run
  bool guessed = false;                // some have parameters with which none was run, and are counted with the mean

  /// As if those that wait will be shared out evenly between as many as are running now.
  std::optional<double> seconds_left() const;
};

/// Without what only the running processes know. earlier: from other runs. Nothing where no cell is running.
std::optional<Overview> overview(const std::vector<CellState>& cells, Estimates earlier = {});

/// "12.3 s", "4:05", "1:02:03"
std::string duration_text(double seconds);
/// "cell 3 of 12: Create 100 bytes, 45939 files/s, 12.0 s left (all: 4:10), ext4-p2-r1"; of several, one after another.
std::string overview_line(const Overview& overview);
/// "3 of 12  ext4-p2-r1  ok  12.3 s"; the columns as wide as the longest of all cells.
std::string finished_line(const std::vector<CellState>& cells, std::size_t index);

}  // namespace mongo
