#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <vector>

namespace mongo {

/// The folder of one run of a matrix, and what is in it.
struct RunFolder {
  std::string path;  // absolute
  std::string name() const { return path.substr(path.rfind('/') + 1); }
  std::string results() const { return path.substr(0, path.rfind('/')); }  // the folder that holds the runs
  std::string matrix_file() const { return path + "/matrix.yaml"; }        // as it was read, byte for byte
  std::string cells_file() const { return path + "/cells.json"; }          // what is to be run; never changed
  std::string state_file() const { return path + "/state.json"; }          // how far each cell is
  std::string progress_file() const { return path + "/progress.json"; }    // of the cell that is running
  std::string records_file() const { return path + "/records.jsonl"; }     // a record here: the cell is done
  std::string lock_file() const { return path + "/lock"; }                 // held by the process that runs the matrix
  std::string cell_lock_file() const { return path + "/cell.lock"; }       // held by the process of the current cell
};

/// "20261130T165001Z-1a2b3c"
bool is_run_name(const std::string& name);
/// The time in such a name, which is in UTC; nothing for other names.
std::optional<std::time_t> time_of_run_name(const std::string& name);

/// A new folder below `results`, which exists; the name sorts by time. Throws RunError("results", ...).
RunFolder make_run_folder(const std::string& results);

/// The folder of an earlier run. Throws UsageError, with a hint, when it is none.
RunFolder find_run_folder(const std::string& path);

/// The runs below `results`, oldest first: folders with a name of that form that hold a cells.json. None when there is
/// no such folder.
std::vector<RunFolder> runs_below(const std::string& results);

/// The names of the files that the results of a cell go to.
std::vector<std::string> result_files(const std::string& log);

}  // namespace mongo
