// LOG_table: a small table a pass, columns separated by tabs, for spreadsheets and the readers of the old files; under
// those of a run one table for people.

#include <fmt/format.h>

#include <sstream>

#include "harness/report/conditions.h"
#include "harness/report/format.h"
#include "harness/report/people_table.h"
#include "harness/report/phase_view.h"
#include "harness/report/text.h"

namespace mongo::format_table {
namespace {

constexpr const char* rule = "--------------------------------------------------------------\n";

/// The old table heads this one column in the singular.
std::string heading(const PhaseSlot& slot) { return slot.name == "symlink" ? "Slink" : slot.label; }

/// The second line of the heading as the old table has it, blanks included.
const char* second_heading(const PhaseSlot& slot) {
  constexpr const char* classic[] = {" time ", "time", "time", "time", "time ", " time ", " time"};
  return slot.number <= 7 ? classic[slot.number - 1] : "time";
}

void add_block(std::string& text, const RunRecord& record, const PassRecord* pass) {
  text += fmt::format("\nMONGO_SINGLE_PROCESS BENCHMARK RESULTS (time in sec.)\n  FILESYSTEM={}\n",
                      one_line(record.filesystem));
  if (pass != nullptr) {
    text += fmt::format("  parameters: files={}, base_size={} bytes, dirs={}\n", format_count(pass->files),
                        pass->median_file_size_bytes, format_count(pass->directories));
  } else {
    text += fmt::format("  parameters: files={0}, base_size={0}, dirs={0}\n", no_value);
  }
  text += fmt::format("  run_id={}\n", one_line(record.run_id));
  text += fmt::format("  processes={}, repetitions={}, profile={}, started={}\n", record.processes, record.repetitions,
                      one_line(record.profile), one_line(record.started_at));
  text += fmt::format("  status={}\n", status_text(record.status, record.reason));
  for (const Condition& condition : conditions(record, pass)) {
    const std::string line = key_line(condition.key, condition.value);
    if (!line.empty()) text += "  " + line;
  }

  const std::vector<PhaseSlot> slots = pass != nullptr ? phase_slots(*pass) : phase_slots();
  std::string names;
  std::string units;
  std::string times;
  for (const PhaseSlot& slot : slots) {
    const char* tab = names.empty() ? "" : "\t";
    names += tab + heading(slot);
    units += std::string(tab) + second_heading(slot);
    times += tab + phase_time(slot);
  }
  text += fmt::format("{0}{1}\n{2}\n{0}{3}\n{0}", rule, names, units, times);

  text += fmt::format("The size of files tree :\n");
  for (const PhaseSlot& slot : slots) {
    if (!slot.writes_files) continue;
    const std::string used = phase_used(slot);
    text += fmt::format("         after {:<6} = {}{}\n", slot.name, used, used == no_value ? "" : " kb");
  }
  for (const PhaseSlot& slot : slots) {
    if (slot.phase != nullptr) text += key_line("note", phase_note(*slot.phase));
  }
  text += fmt::format("\n");
}

/// Readers of the old files know a line by how it begins, so "Create" must not begin one here.
std::string indented(const std::string& block) {
  std::string out;
  std::istringstream lines(block);
  for (std::string line; std::getline(lines, line);) out += (line.empty() ? "" : "  ") + line + "\n";
  return out;
}

std::string render(const RunRecord& record) {
  std::string text;
  if (record.passes.empty()) add_block(text, record, nullptr);
  for (const PassRecord& pass : record.passes) add_block(text, record, &pass);
  return text + "\n" + indented(people_table(record)) + "\n";
}

}  // namespace

extern const Format entry;
const Format entry = {"_table", "a table a pass, columns separated by tabs, and under them one for people", 40, render};

}  // namespace mongo::format_table
