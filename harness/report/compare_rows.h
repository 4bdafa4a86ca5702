#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/record.h"
#include "harness/report/column_names.h"
#include "harness/report/compare_grid.h"
#include "harness/report/differences.h"
#include "harness/report/footnotes.h"

// The rows of a table that has runs side by side, and what is said about the runs around it.

namespace mongo {

inline constexpr std::size_t compare_line_width = 100;
inline constexpr std::size_t compare_widest_heading = 16;

/// What one run has for one size; pass is null when it has none.
struct CompareColumn {
  const RunRecord* run;
  const PassRecord* pass;
  std::string name;
};

/// Runs that are looked at together: which time of a row is the best, and which are for fewer files.
struct CompareGroup {
  std::vector<CompareColumn> columns;
  const Differences* differences;
  /// The column whose times and used space those of all are divided by. Null: they stand as they are.
  std::optional<std::size_t> base;
  bool mark_best = true;
};

CompareGroup compare_group(const std::vector<RunRecord>& runs, const std::vector<ColumnName>& names,
                           const Differences& differences, std::uint64_t median_file_size_bytes);

/// Which cell of which group.
struct ComparePlace {
  std::size_t group;
  std::size_t column;
};

/// Files, directories and all phases of a group, with the cells in the order of the places.
std::vector<CompareRow> compare_rows(const std::vector<CompareGroup>& groups, const std::vector<ComparePlace>& places,
                                     bool used_space, Footnotes& notes);

/// The text in lines, none of them indented.
std::string compare_heading(const std::string& text);

/// "Fragm.: fragments / files above 16384 bytes."
std::string compare_fragments_unit(const std::vector<RunRecord>& runs);

/// A line for each run that is not ok.
std::string compare_statuses(const std::vector<RunRecord>& runs, const std::vector<ColumnName>& names);

/// What holds for all figures of a run: each flag and each warning once, with the runs that have it.
std::string compare_about_runs(const std::vector<RunRecord>& runs, const std::vector<ColumnName>& names);

/// Each of these texts once, with the runs that have it.
std::string compare_texts(const std::vector<RunRecord>& runs, const std::vector<ColumnName>& names,
                          const std::string& all_runs, std::vector<std::string> RunRecord::*texts,
                          std::string (*in_words)(const std::string&));

}  // namespace mongo
