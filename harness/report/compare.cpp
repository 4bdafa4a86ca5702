#include "harness/report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/report/column_names.h"
#include "harness/report/compare_grid.h"
#include "harness/report/compare_rows.h"
#include "harness/report/differences.h"
#include "harness/report/footnotes.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

using Names = std::vector<ColumnName>;

std::string units(const std::vector<RunRecord>& runs, const Names& names, CompareFigures figures) {
  const std::string fragments = compare_fragments_unit(runs);
  if (figures == CompareFigures::ratios) {
    return compare_heading(
        fmt::format("Times and df as ratios to those of the first run, {}: 2.00 is twice its time, lower is better. "
                    "df: used space. {}",
                    names[0].text, fragments));
  }
  return compare_heading("Times in seconds, lower is better. df: used space in KiB. " + fragments);
}

/// The tables, one a size, and whether any time in them is the best of its row.
std::string tables(const std::vector<RunRecord>& runs, const Names& names, const Differences& differences,
                   CompareFigures figures, bool& any_best) {
  std::set<std::uint64_t> sizes;
  for (const RunRecord& run : runs) {
    for (const PassRecord& pass : run.passes) sizes.insert(pass.median_file_size_bytes);
  }
  if (sizes.empty()) return "\nNo run has any figures.\n";
  std::vector<ComparePlace> places;
  for (std::size_t i = 0; i < runs.size(); ++i) places.push_back({0, i});
  std::string out;
  for (const std::uint64_t size : sizes) {
    CompareGroup group = compare_group(runs, names, differences, size);
    if (figures == CompareFigures::ratios) group.base = 0;
    Footnotes notes;
    const std::vector<CompareRow> table = compare_rows({group}, places, true, notes);
    any_best |= std::any_of(table.begin(), table.end(), [](const CompareRow& row) { return row.any_best; });
    out += fmt::format("\nFiles of median size {} bytes\n\n{}", size, compare_grid(table, names));
    const std::string reasons = notes.text(compare_line_width);
    if (!reasons.empty()) out += "\n" + reasons;
  }
  return out;
}

}  // namespace

std::string side_by_side(const std::vector<RunRecord>& runs, CompareFigures figures) {
  if (runs.empty()) return "There are no runs to compare.\n";
  const Names names = column_names(runs, compare_widest_heading);
  const Differences differences(runs, names);
  std::string out = differences.warnings() + compare_statuses(runs, names);
  if (!out.empty()) out += "\n";
  bool any_best = false;
  const std::string table_text = tables(runs, names, differences, figures, any_best);
  out += units(runs, names, figures);
  if (any_best) {
    out += "*: the lowest time of its row, of runs that are ok and times without flags.\n";
  }
  out += differences.common();
  out += table_text;
  const std::string about = compare_about_runs(runs, names);
  return out + (about.empty() ? "" : "\n" + about);
}

}  // namespace mongo
