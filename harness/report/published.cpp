#include "harness/report/published.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "harness/core/errors.h"
#include "harness/report/column_names.h"
#include "harness/report/compare_grid.h"
#include "harness/report/compare_rows.h"
#include "harness/report/conditions.h"
#include "harness/report/differences.h"
#include "harness/report/footnotes.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

using Names = std::vector<ColumnName>;

constexpr std::size_t measured_group = 0;
constexpr std::size_t published_group = 1;

/// Which of the records is of that file system.
std::optional<std::size_t> find_filesystem(const std::vector<RunRecord>& records, const std::string& filesystem) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].filesystem == filesystem) return i;
  }
  return std::nullopt;
}

std::string filesystems(const std::vector<RunRecord>& records) {
  std::set<std::string> all;
  for (const RunRecord& record : records) all.insert(one_line(record.filesystem));
  return fmt::format("{}", fmt::join(all, ", "));
}

/// The published record that the others are divided by.
std::size_t find_base(const std::vector<RunRecord>& runs, const std::vector<RunRecord>& published) {
  for (std::size_t i = 0; i < published.size(); ++i) {
    if (find_filesystem(published, published[i].filesystem) == i) continue;
    throw UsageError(fmt::format("there are two published records of {}: which is meant is not known",
                                 one_line(published[i].filesystem)));
  }
  const std::optional<std::size_t> base = find_filesystem(published, runs[0].filesystem);
  if (base) return *base;
  throw UsageError(
      fmt::format("the first run is of {}, and all ratios are to it, but the published tables have only {}: name a run "
                  "of one of these first",
                  one_line(runs[0].filesystem), filesystems(published)));
}

/// Below the file system's name stands whose figures these are.
Names with_origin(Names names, const std::string& origin, bool in_text) {
  for (ColumnName& name : names) {
    name.lines.insert(name.lines.begin() + 1, origin);
    if (in_text) name.text += " " + origin;
  }
  return names;
}

/// What is published of a file system stands behind its last run; the rest at the end.
std::vector<ComparePlace> column_order(const std::vector<RunRecord>& runs, const std::vector<RunRecord>& published) {
  std::vector<ComparePlace> places;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    places.push_back({measured_group, i});
    const auto later = std::find_if(runs.begin() + static_cast<std::ptrdiff_t>(i) + 1, runs.end(),
                                    [&](const RunRecord& r) { return r.filesystem == runs[i].filesystem; });
    const std::optional<std::size_t> same = find_filesystem(published, runs[i].filesystem);
    if (later == runs.end() && same) places.push_back({published_group, *same});
  }
  for (std::size_t i = 0; i < published.size(); ++i) {
    if (!find_filesystem(runs, published[i].filesystem)) places.push_back({published_group, i});
  }
  return places;
}

std::string profile(const RunRecord& run) { return run.profile.empty() ? "unknown" : one_line(run.profile); }

/// Other files, or other work at the same time, change the ratios too.
std::string other_work(const std::vector<RunRecord>& runs, const Names& names, const RunRecord& published) {
  std::string out;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<std::string> parts;
    if (runs[i].profile != published.profile) {
      parts.push_back(fmt::format("profile {}, published: {}", profile(runs[i]), profile(published)));
    }
    if (runs[i].processes != published.processes) {
      parts.push_back(fmt::format("{}, published: {}", process_count(runs[i].processes), published.processes));
    }
    if (parts.empty()) continue;
    out += wrapped(ascii_line(fmt::format("warning: {}: {}; the ratios are not comparable with the published ones",
                                          names[i].text, fmt::join(parts, "; "))),
                   compare_line_width);
  }
  return out;
}

}  // namespace

std::string beside_published(const std::vector<RunRecord>& runs, const std::vector<RunRecord>& published) {
  if (runs.empty()) return "There are no runs to compare.\n";
  const std::size_t base = find_base(runs, published);
  const Names run_names = with_origin(column_names(runs, compare_widest_heading), "measured", false);
  const Names published_names = with_origin(column_names(published, compare_widest_heading), "published", true);
  const Differences run_differences(runs, run_names);
  const Differences published_differences(published, published_names);

  std::string out =
      run_differences.warnings() + other_work(runs, run_names, published[base]) + compare_statuses(runs, run_names);
  if (!out.empty()) out += "\n";
  out += compare_heading(
      fmt::format("Times as ratios to those of {0}: measured, the first run's; published, those of {1} in the "
                  "published tables. 2.00 is twice the time, lower is better. {2}",
                  run_names[0].text, ascii_line(runs[0].filesystem), compare_fragments_unit(runs)));
  out += compare_heading(
      "Times of 2001 and of today have nothing to do with each other; the ratios between file systems do.");
  out += run_differences.common();

  const std::vector<ComparePlace> places = column_order(runs, published);
  Names names;
  for (const ComparePlace& place : places) {
    names.push_back(place.group == measured_group ? run_names[place.column] : published_names[place.column]);
  }
  std::set<std::uint64_t> sizes;
  for (const RunRecord& record : published) {
    for (const PassRecord& pass : record.passes) sizes.insert(pass.median_file_size_bytes);
  }
  for (const std::uint64_t size : sizes) {
    std::vector<CompareGroup> groups = {compare_group(runs, run_names, run_differences, size),
                                        compare_group(published, published_names, published_differences, size)};
    groups[measured_group].base = 0;
    groups[published_group].base = base;
    for (CompareGroup& group : groups) group.mark_best = false;
    Footnotes notes;
    const std::vector<CompareRow> rows = compare_rows(groups, places, false, notes);
    out += fmt::format("\nFiles of median size {} bytes\n\n{}", size, compare_grid(rows, names));
    const std::string reasons = notes.text(compare_line_width);
    if (!reasons.empty()) out += "\n" + reasons;
  }
  const std::string about = compare_about_runs(runs, run_names);
  if (!about.empty()) out += "\n" + about;
  return out + "\n" +
         compare_texts(published, published_names, "published", &RunRecord::notes,
                       [](const std::string& note) { return note; });
}

}  // namespace mongo
