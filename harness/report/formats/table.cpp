// LOG_table: a small table a pass, columns separated by tabs, for people and spreadsheets.

#include <fmt/format.h>

#include "harness/report/format.h"
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

std::string render(const RunRecord& record) {
  std::string text;
  if (record.passes.empty()) add_block(text, record, nullptr);
  for (const PassRecord& pass : record.passes) add_block(text, record, &pass);
  return text;
}

}  // namespace

extern const Format entry;
const Format entry = {"_table", "a table a pass, columns separated by tabs", 40, render};

}  // namespace mongo::format_table
