#include "harness/report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "harness/report/column_names.h"
#include "harness/report/phase_view.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

constexpr std::size_t widest_heading = 16;
constexpr std::size_t narrowest_column = 8;

using Names = std::vector<ColumnName>;

/// The reasons under a table, each once.
class Footnotes {
 public:
  std::string mark(const std::string& reason) {
    auto found = std::find(reasons_.begin(), reasons_.end(), reason);
    if (found == reasons_.end()) found = reasons_.insert(reasons_.end(), reason);
    return fmt::format("[{}]", found - reasons_.begin() + 1);
  }
  std::string text() const {
    std::string out;
    for (std::size_t i = 0; i < reasons_.size(); ++i) out += fmt::format("[{}] {}\n", i + 1, reasons_[i]);
    return out;
  }

 private:
  std::vector<std::string> reasons_;
};

struct Row {
  std::string label;
  std::vector<std::string> cells;
};

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

/// A time for fewer files than others have worked on is no time to put beside theirs without saying so.
std::string time_cell(const Column& column, const PhaseSlot& slot, std::uint64_t most, Footnotes& notes) {
  std::string time = phase_cell(column, slot, notes, phase_time, phase_note);
  const PhaseRecord* phase = find_phase(column, slot.name);
  if (phase == nullptr || phase->operations == most || time.starts_with(no_value)) return time;
  return time + " " + notes.mark(fmt::format("for {} files; others: {}", phase->operations, most));
}

std::uint64_t most_operations(const std::vector<Column>& columns, const std::string& name) {
  std::uint64_t most = 0;
  for (const Column& column : columns) {
    const PhaseRecord* phase = find_phase(column, name);
    if (phase != nullptr && phase->status == Status::ok) most = std::max(most, phase->operations);
  }
  return most;
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

std::vector<Row> rows(const std::vector<Column>& columns, Footnotes& notes) {
  std::vector<Row> out;
  const auto add = [&](const std::string& label, const std::function<std::string(const Column&)>& cell) {
    Row row{label, {}};
    for (const Column& column : columns) row.cells.push_back(cell(column));
    out.push_back(std::move(row));
  };
  add("files", [&](const Column& c) { return files_cell(c, notes); });
  add("dirs", [&](const Column& c) { return directories_cell(c, notes); });
  for (const PhaseSlot& slot : all_slots(columns)) {
    const auto with = [&](std::string (*figure)(const PhaseSlot&), std::string (*why)(const PhaseRecord&)) {
      return [&notes, &slot, figure, why](const Column& c) { return phase_cell(c, slot, notes, figure, why); };
    };
    const std::uint64_t most = most_operations(columns, slot.name);
    add(ascii_line(slot.label), [&](const Column& c) { return time_cell(c, slot, most, notes); });
    if (!slot.writes_files) continue;
    add("  Fragm.", with(phase_fragmentation, why_no_fragments));
    add("  df", with(phase_used, [](const PhaseRecord&) { return std::string("used space was not measured"); }));
  }
  return out;
}

std::string right_trimmed(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

/// Figures of a column end at the same place; marks hang out to the right of them.
std::string grid(const std::vector<Row>& table, const Names& names) {
  std::size_t label_width = 8;
  for (const Row& row : table) label_width = std::max(label_width, row.label.size());
  std::size_t heading_lines = 0;
  std::vector<std::size_t> figure_width(names.size());
  std::vector<std::size_t> mark_width(names.size());
  const auto mark_at = [](const std::string& cell) { return std::min(cell.find(" ["), cell.size()); };
  for (std::size_t c = 0; c < names.size(); ++c) {
    heading_lines = std::max(heading_lines, names[c].lines.size());
    for (const Row& row : table) {
      const std::size_t mark = mark_at(row.cells[c]);
      figure_width[c] = std::max(figure_width[c], mark);
      mark_width[c] = std::max(mark_width[c], row.cells[c].size() - mark);
    }
    std::size_t width = std::max(narrowest_column, figure_width[c] + mark_width[c]);
    for (const std::string& line : names[c].lines) width = std::max(width, line.size());
    figure_width[c] = width - mark_width[c];
  }
  std::string out;
  std::size_t total = label_width;
  for (std::size_t line = 0; line < heading_lines; ++line) {
    std::string text = fmt::format("{:<{}}", "", label_width);
    for (std::size_t c = 0; c < names.size(); ++c) {
      text += fmt::format(" {:>{}}", line < names[c].lines.size() ? names[c].lines[line] : "",
                          figure_width[c] + mark_width[c]);
    }
    total = std::max(total, text.size());
    out += right_trimmed(text) + "\n";
  }
  out += std::string(total, '-') + "\n";
  for (const Row& row : table) {
    std::string text = fmt::format("{:<{}}", row.label, label_width);
    for (std::size_t c = 0; c < names.size(); ++c) {
      const std::size_t mark = mark_at(row.cells[c]);
      text += fmt::format(" {:>{}}{:<{}}", row.cells[c].substr(0, mark), figure_width[c], row.cells[c].substr(mark),
                          mark_width[c]);
    }
    out += right_trimmed(text) + "\n";
  }
  return out;
}

/// A line that names the difference, when there is one.
std::string difference(const std::vector<RunRecord>& runs, const Names& names, const std::string& what,
                       const std::function<std::string(const RunRecord&)>& value) {
  std::set<std::string> values;
  for (const RunRecord& run : runs) values.insert(value(run));
  if (values.size() < 2) return "";
  std::string list;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string text = value(runs[i]);
    list += fmt::format("{}{}: {}", i == 0 ? "" : "; ", names[i].text, text.empty() ? "unknown" : ascii_line(text));
  }
  return fmt::format("warning: {} differ ({}); the figures are not comparable\n", what, list);
}

std::string device_text(const RunRecord& run) {
  const DeviceRecord& device = run.device;
  std::string text = device.kind;
  if (!device.model.empty()) text += " " + device.model;
  if (!device.serial.empty()) text += " " + device.serial;
  if (device.size_bytes != 0) text += fmt::format(" {} bytes", device.size_bytes);
  return text;
}

std::string warnings(const std::vector<RunRecord>& runs, const Names& names) {
  return difference(runs, names, "profiles", [](const RunRecord& r) { return r.profile; }) +
         difference(runs, names, "processes", [](const RunRecord& r) { return std::to_string(r.processes); }) +
         difference(runs, names, "repetitions", [](const RunRecord& r) { return std::to_string(r.repetitions); }) +
         difference(runs, names, "hosts", [](const RunRecord& r) { return r.host.name; }) +
         difference(runs, names, "devices", device_text);
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

}  // namespace

std::string side_by_side(const std::vector<RunRecord>& runs) {
  if (runs.empty()) return "There are no runs to compare.\n";
  const Names names = column_names(runs, widest_heading);
  std::string out = warnings(runs, names);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].status == Status::ok) continue;
    out += fmt::format("{}: {}\n", names[i].text, ascii_line(status_text(runs[i].status, runs[i].reason)));
  }
  if (!out.empty()) out += "\n";
  out += units(runs);

  std::set<std::uint64_t> sizes;
  for (const RunRecord& run : runs) {
    for (const PassRecord& pass : run.passes) sizes.insert(pass.median_file_size_bytes);
  }
  if (sizes.empty()) out += "\nNo run has any figures.\n";
  for (const std::uint64_t size : sizes) {
    std::vector<Column> columns;
    for (const RunRecord& run : runs) {
      const auto pass = std::find_if(run.passes.begin(), run.passes.end(),
                                     [&](const PassRecord& p) { return p.median_file_size_bytes == size; });
      columns.push_back({&run, pass == run.passes.end() ? nullptr : &*pass});
    }
    Footnotes notes;
    const std::vector<Row> table = rows(columns, notes);
    out += fmt::format("\nFiles of median size {} bytes\n\n{}", size, grid(table, names));
    const std::string reasons = notes.text();
    if (!reasons.empty()) out += "\n" + reasons;
  }
  return out;
}

}  // namespace mongo
