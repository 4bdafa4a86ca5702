// LOG.tbl: one figure a line, for programs. A reader finds a figure by the first word of its line; the fragments and
// the used space belong to the phase above them. What this tool adds is written as key=value.

#include <fmt/format.h>

#include "harness/core/quote.h"
#include "harness/report/conditions.h"
#include "harness/report/format.h"
#include "harness/report/phase_view.h"
#include "harness/report/text.h"

namespace mongo::format_tbl {
namespace {

void add_notes(std::string& text, const PhaseSlot& slot) {
  if (slot.phase == nullptr) return;
  text += key_line("note", phase_note(*slot.phase));
  text += key_line("note", fragmentation_note(*slot.phase));
}

void add_parameters(std::string& text, const RunRecord& record, const PassRecord* pass) {
  text += fmt::format("\nMONGO_SINGLE_PROCESS\nparameters:\n");
  text += key_line("run_id", record.run_id);
  if (pass != nullptr) {
    text += fmt::format("files={}\nbase_size={} bytes\ndirs={}\n", format_count(pass->files),
                        pass->median_file_size_bytes, format_count(pass->directories));
    text += fmt::format("planned_files={}\n", pass->planned_files);
  } else {
    text += fmt::format("files={0}\nbase_size={0}\ndirs={0}\n", no_value);
  }
  text += fmt::format("processes={}\nrepetitions={}\n", record.processes, record.repetitions);
  text += key_line("profile", record.profile);
  text += key_line("started", record.started_at);
  text += key_line("device", record.device.resolved.empty() ? record.device.given : record.device.resolved);
  text += key_line("mkfs", quote_argv(record.mkfs.argv));
  text += key_line("mount_effective", record.mount.effective);
  for (const Condition& condition : conditions(record, pass)) text += key_line(condition.key, condition.value);
  text += key_line("status", status_name(record.status));
  text += key_line("reason", record.reason);
}

void add_block(std::string& text, const RunRecord& record, const PassRecord* pass) {
  add_parameters(text, record, pass);
  text += fmt::format("\nFSYS={}\n(time in sec.)\n", one_line(record.filesystem));
  const std::vector<PhaseSlot> slots = pass != nullptr ? phase_slots(*pass) : phase_slots();
  for (const PhaseSlot& slot : slots) {  // a group for each phase that writes files
    if (!slot.writes_files) continue;
    text += fmt::format("{:<6} : {}\nFragm. : {}\ndf     : {}\n", slot.label, phase_time(slot),
                        phase_fragmentation(slot), phase_used(slot));
    add_notes(text, slot);
    text += fmt::format("\n");
  }
  for (const PhaseSlot& slot : slots) {  // and one for the others
    if (!slot.writes_files) text += fmt::format("{:<6} : {}\n", slot.label, phase_time(slot));
  }
  for (const PhaseSlot& slot : slots) {
    if (!slot.writes_files) add_notes(text, slot);
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
const Format entry = {".tbl", "one figure a line, for programs that read by the first word", 30, render};

}  // namespace mongo::format_tbl
