#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/plan/cell.h"

namespace mongo {

/// One run of a matrix.
struct MatrixCell {
  std::string id;      // the same for the same parameters: letters, digits, '-', '.', at most 100; no repeat in it
  int repeat = 1;      // from 1
  RunRequest request;  // all but `results`; its log is "ID-rREPEAT"
  /// What distinguishes it from the other cells, as in the file: {"filesystem", "ext4"}, {"processes", "2"}.
  std::vector<std::pair<std::string, std::string>> parameters;
};

/// A test matrix as a YAML file describes it; configs/matrix.schema.json is the form, README.md explains it.
struct Matrix {
  std::string text;  // the file as it was read
  int repeats = 1;
  std::vector<MatrixCell> cells;      // as listed: all repeats of a cell together
  std::vector<std::string> warnings;  // e.g. an exclude that matches nothing
};

inline constexpr std::size_t most_matrix_cells = 10'000;  // repeats counted

/// Reads a matrix strictly. Throws UsageError with "FILE:LINE:COLUMN: KEY: reason, and what is allowed" for everything
/// that cannot be meant: unknown keys, duplicate keys, wrong types, values that `mongo run` would refuse, too many
/// cells (found out before they are made). Touches nothing.
Matrix read_matrix(const std::string& path);
/// The same from a text; `name` stands for the file in messages.
Matrix parse_matrix(const std::string& text, const std::string& name);

enum class MatrixOrder {
  shuffled,  // repeats interleaved: all cells of the first repeat, then of the second; within each shuffled by the seed
  listed,
};

/// Indices into matrix.cells in the order in which they are to be run. The same seed gives the same order everywhere.
std::vector<std::size_t> order_of(const Matrix& matrix, MatrixOrder order, std::uint64_t seed);

}  // namespace mongo
