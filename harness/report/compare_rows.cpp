#include "harness/report/compare_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "harness/report/conditions.h"
#include "harness/report/phase_view.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

std::string missing(Footnotes& notes, const std::string& reason) { return no_value + (" " + notes.mark(reason)); }

std::string no_pass_reason(const RunRecord& run) {
  if (run.status == Status::ok) return "this size was not run";
  return ascii_line("this size was not run, " + status_text(run.status, run.reason));
}

std::string files_cell(const CompareColumn& column, Footnotes& notes) {
  if (column.pass == nullptr) return missing(notes, no_pass_reason(*column.run));
  const PassRecord& pass = *column.pass;
  if (!pass.files) return missing(notes, "not counted");
  std::string files = format_count(pass.files);
  if (pass.planned_files == 0 || *pass.files == pass.planned_files) return files;
  return files + " " + notes.mark(fmt::format("{} files were planned", pass.planned_files));
}

std::string directories_cell(const CompareColumn& column, Footnotes& notes) {
  if (column.pass == nullptr) return missing(notes, no_pass_reason(*column.run));
  return column.pass->directories ? format_count(column.pass->directories) : missing(notes, "not counted");
}

/// The phase of that name, or null when the run has no such phase.
const PhaseRecord* find_phase(const CompareColumn& column, const std::string& name) {
  if (column.pass == nullptr) return nullptr;
  for (const PhaseRecord& phase : column.pass->phases) {
    if (phase.name == name) return &phase;
  }
  return nullptr;
}

/// A cell of a phase: its figure if the phase is ok and has it, else the reason why not.
std::string phase_cell(const CompareColumn& column, const PhaseSlot& slot, Footnotes& notes,
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

/// A figure of a phase that can be divided by another. Null where the phase is not ok or has none.
using Figure = std::optional<double> (*)(const PhaseRecord&);

std::optional<double> seconds_figure(const PhaseRecord& phase) { return phase.seconds; }

std::optional<double> used_figure(const PhaseRecord& phase) {
  return phase.used_kib ? std::optional<double>(static_cast<double>(*phase.used_kib)) : std::nullopt;
}

std::optional<double> figure_of(const PhaseRecord* phase, Figure figure) {
  if (phase == nullptr || phase->status != Status::ok) return std::nullopt;
  const std::optional<double> value = figure(*phase);
  return value && std::isfinite(*value) && *value >= 0 ? value : std::nullopt;
}

/// The cell as it stands, or, where the group has a base and the cell a figure, that as a multiple of the base's. A
/// figure of 0 has none: it was too small to be measured.
std::string against_base(const std::string& cell, const CompareGroup& group, const CompareColumn& column,
                         const std::string& phase_name, Figure figure, const char* what, Footnotes& notes) {
  if (!group.base || cell.starts_with(no_value)) return cell;
  const CompareColumn& base = group.columns[*group.base];
  const std::optional<double> divisor = figure_of(find_phase(base, phase_name), figure);
  if (!divisor) return missing(notes, fmt::format("{} has no {} here to divide by", base.name, what));
  if (*divisor == 0) return missing(notes, fmt::format("the {} of {} is 0: nothing to divide by", what, base.name));
  const std::optional<double> own = figure_of(find_phase(column, phase_name), figure);
  if (own == 0.0) return missing(notes, fmt::format("the {} is 0: no ratio", what));
  return format_multiple(*own / *divisor);
}

std::uint64_t most_operations(const std::vector<CompareColumn>& columns, const std::string& name) {
  std::uint64_t most = 0;
  for (const CompareColumn& column : columns) {
    const PhaseRecord* phase = find_phase(column, name);
    if (phase != nullptr && phase->status == Status::ok) most = std::max(most, phase->operations);
  }
  return most;
}

/// A row of times and what makes them comparable.
struct TimeRow {
  const CompareGroup* group;
  PhaseSlot slot;
  std::uint64_t most = 0;  // operations
  std::string best;        // the lowest time as printed; empty: there is none
};

/// Whether the time may be put in an order with others: of a whole run, and nothing to be known before it is used.
bool can_be_best(const CompareColumn& column, const TimeRow& row) {
  const PhaseRecord* phase = find_phase(column, row.slot.name);
  return phase != nullptr && column.run->status == Status::ok && phase->status == Status::ok && phase->flags.empty() &&
         phase->operations == row.most && phase->seconds && std::isfinite(*phase->seconds) && *phase->seconds > 0;
}

TimeRow time_row(const CompareGroup& group, const PhaseSlot& slot) {
  TimeRow row{&group, slot, most_operations(group.columns, slot.name), ""};
  if (!group.mark_best || !group.differences->comparable(slot.name)) return row;
  std::vector<double> times;
  for (const CompareColumn& column : group.columns) {
    if (can_be_best(column, row)) times.push_back(*find_phase(column, slot.name)->seconds);
  }
  if (times.size() >= 2) row.best = format_seconds(*std::min_element(times.begin(), times.end()));
  return row;
}

/// That the time is for another number of files than what it is held against; empty if it is not.
std::string files_note(const PhaseRecord& phase, const TimeRow& row) {
  if (!row.group->base) {
    if (phase.operations == row.most) return "";
    return fmt::format("for {} files; others: {}", phase.operations, row.most);
  }
  const CompareColumn& base = row.group->columns[*row.group->base];
  const std::uint64_t divisor = find_phase(base, row.slot.name)->operations;
  if (phase.operations == divisor) return "";
  return fmt::format("a time for {} files, divided by one for {}", phase.operations, divisor);
}

/// A time with what has to be known before it is used: its flags, its caches, and that it is for fewer files than the
/// others. Times that print alike are equally good.
std::string time_cell(const CompareColumn& column, const TimeRow& row, Footnotes& notes) {
  const std::string time = phase_cell(column, row.slot, notes, phase_time, phase_note);
  std::string cell = against_base(time, *row.group, column, row.slot.name, seconds_figure, "time", notes);
  if (cell.starts_with(no_value)) return cell;
  const PhaseRecord* phase = find_phase(column, row.slot.name);
  std::vector<std::string> about = {files_note(*phase, row)};
  for (const std::string& flag : phase->flags) about.push_back(flag_text(flag));
  about.push_back(row.group->differences->cache_note(*phase));
  std::erase(about, "");
  return cell + (can_be_best(column, row) && time == row.best ? "*" : "") +
         (about.empty() ? "" : " " + notes.mark(fmt::format("{}", fmt::join(about, "; "))));
}

std::string why_no_fragments(const PhaseRecord& phase) {
  const std::string note = fragmentation_note(phase);
  return note.empty() ? "fragments were not counted" : note;
}

/// The phases of all runs at one size: the classic seven, then others in the order in which they are met.
std::vector<PhaseSlot> all_slots(const std::vector<CompareGroup>& groups) {
  std::vector<PhaseSlot> slots = phase_slots();
  const auto add = [&](const PassRecord& pass) {
    for (const PhaseSlot& slot : phase_slots(pass)) {
      const auto known =
          std::find_if(slots.begin(), slots.end(), [&](const PhaseSlot& s) { return s.name == slot.name; });
      if (known == slots.end()) slots.push_back(slot);
    }
  };
  for (const CompareGroup& group : groups) {
    for (const CompareColumn& column : group.columns) {
      if (column.pass != nullptr) add(*column.pass);
    }
  }
  return slots;
}

}  // namespace

CompareGroup compare_group(const std::vector<RunRecord>& runs, const std::vector<ColumnName>& names,
                           const Differences& differences, std::uint64_t median_file_size_bytes) {
  CompareGroup group{{}, &differences, std::nullopt, true};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& passes = runs[i].passes;
    const auto pass = std::find_if(passes.begin(), passes.end(), [&](const PassRecord& p) {
      return p.median_file_size_bytes == median_file_size_bytes;
    });
    group.columns.push_back({&runs[i], pass == passes.end() ? nullptr : &*pass, names[i].text});
  }
  return group;
}

std::vector<CompareRow> compare_rows(const std::vector<CompareGroup>& groups, const std::vector<ComparePlace>& places,
                                     bool used_space, Footnotes& notes) {
  using Cell = std::function<std::string(const CompareColumn&, std::size_t)>;
  std::vector<CompareRow> out;
  const auto add = [&](const std::string& label, const Cell& cell) {
    CompareRow row{label, {}, false};
    for (const ComparePlace& place : places) {
      row.cells.push_back(cell(groups[place.group].columns[place.column], place.group));
    }
    out.push_back(std::move(row));
  };
  add("files", [&](const CompareColumn& c, std::size_t) { return files_cell(c, notes); });
  add("dirs", [&](const CompareColumn& c, std::size_t) { return directories_cell(c, notes); });
  for (const PhaseSlot& slot : all_slots(groups)) {
    std::vector<TimeRow> times;
    for (const CompareGroup& group : groups) times.push_back(time_row(group, slot));
    add(ascii_line(slot.label),
        [&](const CompareColumn& c, std::size_t group) { return time_cell(c, times[group], notes); });
    out.back().any_best = std::any_of(times.begin(), times.end(), [](const TimeRow& t) { return !t.best.empty(); });
    if (!slot.writes_files) continue;
    add("  Fragm.", [&](const CompareColumn& c, std::size_t) {
      return phase_cell(c, slot, notes, phase_fragmentation, why_no_fragments);
    });
    if (!used_space) continue;
    add("  df", [&](const CompareColumn& c, std::size_t group) {
      const std::string used = phase_cell(
          c, slot, notes, phase_used, [](const PhaseRecord&) { return std::string("used space was not measured"); });
      return against_base(used, groups[group], c, slot.name, used_figure, "used space", notes);
    });
  }
  return out;
}

std::string compare_heading(const std::string& text) {
  constexpr std::size_t width = 90;
  return fmt::format("{}\n", fmt::join(wrap_words(text, width), "\n"));
}

std::string compare_fragments_unit(const std::vector<RunRecord>& runs) {
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
  return fmt::format("Fragm.: fragments / files{}.", above.empty() ? "" : fmt::format(" above {} bytes", above));
}

std::string compare_statuses(const std::vector<RunRecord>& runs, const std::vector<ColumnName>& names) {
  std::string out;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].status == Status::ok) continue;
    out += fmt::format("{}: {}\n", names[i].text, ascii_line(status_text(runs[i].status, runs[i].reason)));
  }
  return out;
}

std::string compare_texts(const std::vector<RunRecord>& runs, const std::vector<ColumnName>& names,
                          const std::string& all_runs, std::vector<std::string> RunRecord::*texts,
                          std::string (*in_words)(const std::string&)) {
  std::string out;
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
      const std::string prefix = who.size() == runs.size() ? all_runs : fmt::format("{}", fmt::join(who, ", "));
      out += wrapped(ascii_line(prefix + ": " + in_words(text)), compare_line_width);
    }
  }
  return out;
}

std::string compare_about_runs(const std::vector<RunRecord>& runs, const std::vector<ColumnName>& names) {
  return compare_texts(runs, names, "all runs", &RunRecord::flags, flag_text) +
         compare_texts(runs, names, "all runs", &RunRecord::warnings,
                       [](const std::string& warning) { return warning; });
}

}  // namespace mongo
