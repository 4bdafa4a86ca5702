#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/matrix/run_folder.h"
#include "harness/matrix/state.h"
#include "harness/plan/matrix.h"

namespace mongo {

/// A cell that is to be run, with all that can be known before.
struct ListedCell {
  std::string id;
  int repeat = 1;
  Cell cell;                                                    // without the folder for its results
  std::vector<std::pair<std::string, std::string>> parameters;  // what distinguishes it
  std::uint64_t space_bytes = 0;                                // of file data on the device at the most
};

/// What a run of a matrix is to do, in the order of running: cells.json.
struct CellList {
  MatrixOrder order = MatrixOrder::shuffled;
  std::uint64_t seed = 0;
  std::string folder;  // in which relative names are meant: where the tool was started
  std::string matrix;  // the text of the file
  std::string matrix_path;
  std::vector<std::string> warnings;
  std::vector<ListedCell> cells;
};

inline constexpr std::uint64_t largest_seed = (std::uint64_t{1} << 53) - 1;  // what every reader of JSON keeps exact
const char* order_name(MatrixOrder order);

/// Puts the matrix in order. Throws UsageError where a cell cannot be meant.
CellList plan_cells(const Matrix& matrix, MatrixOrder order, std::uint64_t seed);

std::string to_text(const CellList& list, const std::string& run);

/// The head of a cells.json, for who only looks.
struct CellListHead {
  std::string order, matrix_path;
  std::uint64_t seed = 0;
};
CellListHead read_head(const RunFolder& folder);

/// The cells of an earlier run in its order, from its own matrix.yaml. When `path` is not empty, that matrix file must
/// have the same cells, in whatever order, with the same texts for their settings. Throws UsageError that names the
/// first difference and what to do; also when this version of the tool would run a cell differently. The watch: as
/// read_matrix.
CellList read_cells(const RunFolder& folder, const std::string& path, const InterruptWatch* watch = nullptr);

/// All of them waiting.
std::vector<CellState> waiting_cells(const CellList& list);

}  // namespace mongo
