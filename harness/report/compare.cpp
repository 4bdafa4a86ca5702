#include "harness/report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "harness/report/column_names.h"
#include "harness/report/compare_grid.h"
#include "harness/report/conditions.h"
#include "harness/report/differences.h"
#include "harness/report/footnotes.h"
#include "harness/report/phase_view.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

constexpr std::size_t widest_heading = 16;
constexpr std::size_t line_width = 100;

using Names = std::vector<ColumnName>;

/// What one run has for one size; pass is null when it has none.
struct Column {
  const RunRecord* run;
  const PassRecord* pass;
};

std::string missing(Footnotes& notes, const std::string& reason) { return no_value + (" " + notes.mark(reason)); }

std::string no_pass_reason(const RunRecord& run) {
  if (run.status == Status::ok) return "this size was not run";
  return ascii_line("this size was not run, " + status_text(run.status, run.reason));
}

std::string files_cell(const Column& column, Footnotes& notes) {
  if (column.pass == nullptr) return missing(notes, no_pass_reason(*column.run));
  const PassRecord& pass = *column.pass;
  if (!pass.files) return missing(notes, "not counted");
  std::string files = format_count(pass.files);
  if (pass.planned_files == 0 || *pass.files == pass.planned_files) return files;
  return files + " " + notes.mark(fmt::format("{} files were planned", pass.planned_files));
}

std::string directories_cell(const Column& column, Footnotes& notes) {
  if (column.pass == nullptr) return missing(notes, no_pass_reason(*column.run));
  return column.pass->directories ? format_count(column.pass->directories) : missing(notes, "not counted");
}

/// The slot of that name, or null when the run has no such phase.
const PhaseRecord* find_phase(const Column& column, const std::string& name) {
  if (column.pass == nullptr) return nullptr;
  for (const PhaseRecord& phase : column.pass->phases) {
    if (phase.name == name) return &phase;
  }
  return nullptr;
}

/// A cell of a phase: its figure if the phase is ok and has it, else the reason why not.
std::string phase_cell(const Column& column, const PhaseSlot& slot, Footnotes& notes,
                       std::string (*figure)(const PhaseSlot&),
                       const std::function<std::string(const PhaseRecord&)>& why) {
  if (column.pass == nullptr) return missing(notes, no_pass_reason(*column.run));
  const PhaseRecord* phase = find_phase(column, slot.name);
  if (phase == nullptr) return missing(notes, "this phase was not run");
  // The space and the fragments of half a tree are no figures to compare either.
  if (phase->status != Status::ok) return missing(notes, ascii_line(phase_note(*phase)));
  PhaseSlot own = slot;
  own.phase = phase;
  const std::string value = figure(own);
  return value == no_value ? missing(notes, ascii_line(why(*phase))) : value;
}

std::uint64_t most_operations(const std::vector<Column>& columns, const std::string& name) {
  std::uint64_t most = 0;
  for (const Column& column : columns) {
    const PhaseRecord* phase = find_phase(column, name);
    if (phase != nullptr && phase->status == Status::ok) most = std::max(most, phase->operations);
  }
  return most;
}

/// A row of times and what makes them comparable.
struct TimeRow {
  PhaseSlot slot;
  std::uint64_t most = 0;  // operations
  std::string best;        // the lowest time as printed; empty: there is none
};

/// Whether the time may be put in an order with others: of a whole run, and nothing to be known before it is used.
bool can_be_best(const Column& column, const TimeRow& row) {
  const PhaseRecord* phase = find_phase(column, row.slot.name);
  return phase != nullptr && column.run->status == Status::ok && phase->status == Status::ok && phase->flags.empty() &&
         phase->operations == row.most && phase->seconds && std::isfinite(*phase->seconds) && *phase->seconds > 0;
}

TimeRow time_row(const std::vector<Column>& columns, const PhaseSlot& slot, const Differences& differences) {
  TimeRow row{slot, most_operations(columns, slot.name), ""};
  if (!differences.comparable(slot.name)) return row;
  std::vector<double> times;
  for (const Column& column : columns) {
    if (can_be_best(column, row)) times.push_back(*find_phase(column, slot.name)->seconds);
  }
  if (times.size() >= 2) row.best = format_seconds(*std::min_element(times.begin(), times.end()));
  return row;
}

/// A time with what has to be known before it is used: its flags, its caches, and that it is for fewer files than the
/// others. Times that print alike are equally good.
std::string time_cell(const Column& column, const TimeRow& row, const Differences& differences, Footnotes& notes) {
  std::string time = phase_cell(column, row.slot, notes, phase_time, phase_note);
  const PhaseRecord* phase = find_phase(column, row.slot.name);
  if (phase == nullptr || time.starts_with(no_value)) return time;
  std::vector<std::string> about;
  if (phase->operations != row.most) {
    about.push_back(fmt::format("for {} files; others: {}", phase->operations, row.most));
  }
  for (const std::string& flag : phase->flags) about.push_back(flag_text(flag));
  about.push_back(differences.cache_note(*phase));
  std::erase(about, "");
  return time + (can_be_best(column, row) && time == row.best ? "*" : "") +
         (about.empty() ? "" : " " + notes.mark(fmt::format("{}", fmt::join(about, "; "))));
}

std::string why_no_fragments(const PhaseRecord& phase) {
  const std::string note = fragmentation_note(phase);
  return note.empty() ? "fragments were not counted" : note;
}

/// The phases of all runs at one size: the classic seven, then others in the order in which they are met.
std::vector<PhaseSlot> all_slots(const std::vector<Column>& columns) {
  std::vector<PhaseSlot> slots = phase_slots();
  for (const Column& column : columns) {
    if (column.pass == nullptr) continue;
    for (const PhaseSlot& slot : phase_slots(*column.pass)) {
      const auto known =
          std::find_if(slots.begin(), slots.end(), [&](const PhaseSlot& s) { return s.name == slot.name; });
      if (known == slots.end()) slots.push_back(slot);
    }
  }
  return slots;
}

std::vector<CompareRow> rows(const std::vector<Column>& columns, const Differences& differences, Footnotes& notes) {
  std::vector<CompareRow> out;
  const auto add = [&](const std::string& label, const std::function<std::string(const Column&)>& cell) {
    CompareRow row{label, {}, false};
    for (const Column& column : columns) row.cells.push_back(cell(column));
    out.push_back(std::move(row));
  };
  add("files", [&](const Column& c) { return files_cell(c, notes); });
  add("dirs", [&](const Column& c) { return directories_cell(c, notes); });
  for (const PhaseSlot& slot : all_slots(columns)) {
    const auto with = [&](std::string (*figure)(const PhaseSlot&), std::string (*why)(const PhaseRecord&)) {
      return [&notes, &slot, figure, why](const Column& c) { return phase_cell(c, slot, notes, figure, why); };
    };
    const TimeRow times = time_row(columns, slot, differences);
    add(ascii_line(slot.label), [&](const Column& c) { return time_cell(c, times, differences, notes); });
    out.back().any_best = !times.best.empty();
    if (!slot.writes_files) continue;
    add("  Fragm.", with(phase_fragmentation, why_no_fragments));
    add("  df", with(phase_used, [](const PhaseRecord&) { return std::string("used space was not measured"); }));
  }
  return out;
}

std::string units(const std::vector<RunRecord>& runs) {
  std::set<std::uint64_t> thresholds;
  for (const RunRecord& run : runs) {
    for (const PassRecord& pass : run.passes) {
      for (const PhaseRecord& phase : pass.phases) {
        if (phase.fragmentation) thresholds.insert(phase.fragmentation->threshold_bytes);
      }
    }
  }
  std::string above;
  for (const std::uint64_t threshold : thresholds) above += fmt::format("{}{}", above.empty() ? "" : " or ", threshold);
  return fmt::format("Times in seconds, lower is better. df: used space in KiB. Fragm.: fragments / files{}.\n",
                     above.empty() ? "" : fmt::format(" above\n{} bytes", above));
}

/// The tables, one a size, and whether any time in them is the best of its row.
std::string tables(const std::vector<RunRecord>& runs, const Names& names, const Differences& differences,
                   bool& any_best) {
  std::set<std::uint64_t> sizes;
  for (const RunRecord& run : runs) {
    for (const PassRecord& pass : run.passes) sizes.insert(pass.median_file_size_bytes);
  }
  if (sizes.empty()) return "\nNo run has any figures.\n";
  std::string out;
  for (const std::uint64_t size : sizes) {
    std::vector<Column> columns;
    for (const RunRecord& run : runs) {
      const auto pass = std::find_if(run.passes.begin(), run.passes.end(),
                                     [&](const PassRecord& p) { return p.median_file_size_bytes == size; });
      columns.push_back({&run, pass == run.passes.end() ? nullptr : &*pass});
    }
    Footnotes notes;
    const std::vector<CompareRow> table = rows(columns, differences, notes);
    any_best |= std::any_of(table.begin(), table.end(), [](const CompareRow& row) { return row.any_best; });
    out += fmt::format("\nFiles of median size {} bytes\n\n{}", size, compare_grid(table, names));
    const std::string reasons = notes.text(line_width);
    if (!reasons.empty()) out += "\n" + reasons;
  }
  return out;
}

/// What holds for all figures of a run: each flag and each warning once, with the runs that have it.
std::string about_runs(const std::vector<RunRecord>& runs, const Names& names) {
  std::string out;
  const auto add = [&](std::vector<std::string> RunRecord::*texts, std::string (*in_words)(const std::string&)) {
    std::vector<std::string> done;
    for (const RunRecord& run : runs) {
      for (const std::string& text : run.*texts) {
        if (std::find(done.begin(), done.end(), text) != done.end()) continue;
        done.push_back(text);
        std::vector<std::string> who;
        for (std::size_t i = 0; i < runs.size(); ++i) {
          const auto& own = runs[i].*texts;
          if (std::find(own.begin(), own.end(), text) != own.end()) who.push_back(names[i].text);
        }
        const std::string prefix = who.size() == runs.size() ? "all runs" : fmt::format("{}", fmt::join(who, ", "));
        out += wrapped(ascii_line(prefix + ": " + in_words(text)), line_width);
      }
    }
  };
  add(&RunRecord::flags, flag_text);
  add(&RunRecord::warnings, [](const std::string& warning) { return warning; });
  return out;
}

}  // namespace

std::string side_by_side(const std::vector<RunRecord>& runs) {
  if (runs.empty()) return "There are no runs to compare.\n";
  const Names names = column_names(runs, widest_heading);
  const Differences differences(runs, names);
  std::string out = differences.warnings();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].status == Status::ok) continue;
    out += fmt::format("{}: {}\n", names[i].text, ascii_line(status_text(runs[i].status, runs[i].reason)));
  }
  if (!out.empty()) out += "\n";
  bool any_best = false;
  const std::string figures = tables(runs, names, differences, any_best);
  out += units(runs);
  if (any_best) {
    out += "*: the lowest time of its row, of runs that are ok and times without flags.\n";
  }
  out += differences.common();
  out += figures;
  const std::string about = about_runs(runs, names);
  return out + (about.empty() ? "" : "\n" + about);
}

}  // namespace mongo
