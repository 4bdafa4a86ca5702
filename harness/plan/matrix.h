#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/interrupt.h"
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

/// A test matrix as a YAML file describes it; configs/matrix.schema.json is the form, configs/example.yaml shows all.
///
/// - matrix, devices: the axes. Each has a list of values, or one value. There is a cell for each combination, in the
///   order of the file; the first axis changes slowest, and devices comes before those of matrix.
/// - exclude takes out the cells that have all values of an entry; only axes count.
/// - include, entry by entry: cells of the product that agree in all axes that the entry names get its other values
///   (those of an earlier entry are replaced, those of the axes never). Where none agrees, and where there is no axis,
///   the entry is a cell of its own.
/// - What a cell does not say is taken from its option set (the key options), then from defaults, device and
///   mount_point, then from what `mongo run` does when it is not told; processes is 1 then. A value that a cell and its
///   option set both say is refused.
/// - Cells with the same parameters are one, and so are values that mean the same (10M and 10MiB), with a warning.
/// - Numbers are written in digits, in quotes or not. Truth values are true and false, not in quotes. All else is text:
///   no, off and y too. A text that YAML takes for a number or a truth value must be in quotes where any text goes.
/// - phases, mount_options, cache and median_file_sizes can be lists. As a value of an axis that is a list in the list.
struct Matrix {
  std::string text;  // the file as it was read
  int repeats = 1;
  std::vector<MatrixCell> cells;      // as listed: all repeats of a cell together
  std::vector<std::string> warnings;  // e.g. an exclude that matches nothing
};

inline constexpr std::size_t most_matrix_cells = 10'000;  // repeats counted

/// Where a matrix mounts when it does not say.
inline constexpr const char* default_mount_point = "/mnt/mongo";

/// Reads a matrix strictly. Throws UsageError with "FILE:LINE:COLUMN: KEY: reason, and what is allowed" for everything
/// that cannot be meant: unknown keys, duplicate keys, wrong types, values that `mongo run` would refuse, too many
/// cells (found out before they are made). Touches nothing. It may be a FIFO, whose writer is waited for; throws
/// Interrupted when a signal comes meanwhile.
Matrix read_matrix(const std::string& path, const InterruptWatch* watch = nullptr);
/// The same from a text; `name` stands for the file in messages.
Matrix parse_matrix(const std::string& text, const std::string& name);

enum class MatrixOrder {
  shuffled,  // repeats interleaved: all cells of the first repeat, then of the second; within each shuffled by the seed
  listed,
};

/// Indices into matrix.cells in the order in which they are to be run. The same seed gives the same order everywhere.
std::vector<std::size_t> order_of(const Matrix& matrix, MatrixOrder order, std::uint64_t seed);

}  // namespace mongo
