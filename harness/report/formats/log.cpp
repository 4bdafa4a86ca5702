// LOG: the long log, in the words of the original tool. A reader finds a figure by the first word of its line; what
// this tool adds is written as key=value, with keys that are no first word of the old log.

#include <fmt/format.h>

#include "harness/core/quote.h"
#include "harness/report/format.h"
#include "harness/report/phase_view.h"
#include "harness/report/text.h"

namespace mongo::format_log {
namespace {

std::string device_text(const DeviceRecord& device) {
  std::string text = device.resolved.empty() ? device.given : device.resolved;
  if (!device.resolved.empty() && device.given != device.resolved) text += ", given as " + device.given;
  if (!device.kind.empty()) text += ", " + device.kind;
  if (!device.major_minor.empty()) text += ", " + device.major_minor;
  if (device.size_bytes != 0) text += fmt::format(", {} bytes", device.size_bytes);
  if (!device.backing.empty()) text += ", file " + device.backing;
  if (!device.model.empty()) text += ", model " + device.model;
  if (!device.serial.empty()) text += ", serial " + device.serial;
  if (!device.by_id.empty()) text += ", " + device.by_id;
  return text;
}

std::string signature_text(const Signature& signature) {
  std::string text = signature.type;
  if (!signature.usage.empty()) text += " (" + signature.usage + ")";
  if (!signature.label.empty()) text += ", label " + signature.label;
  if (!signature.uuid.empty()) text += ", uuid " + signature.uuid;
  return text;
}

void add_run(std::string& text, const RunRecord& record) {
  text += key_line("run_id", record.run_id);
  text += key_line("status", status_name(record.status));
  text += key_line("reason", record.reason);
  for (const std::string& note : record.notes) text += key_line("run_note", note);
  text += key_line("started", record.started_at);
  text += key_line("ended", record.ended_at);
  text += key_line("mongo_version", record.mongo_version);
  text += key_line("host", record.host.name);
  text += key_line("kernel", record.host.kernel);
  text += key_line("machine", record.host.machine);
  text += key_line("device", device_text(record.device));
  for (const Signature& signature : record.device.destroyed) text += key_line("destroyed", signature_text(signature));
  text += key_line("mkfs", quote_argv(record.mkfs.argv));
  text += key_line("mkfs_version", record.mkfs.version);
  text += key_line("mount_point", record.mount.point);
  text += key_line("mount_requested", record.mount.requested);
  text += key_line("mount_effective", record.mount.effective);
  text += key_line("profile", record.profile);
  text += key_line("processes", std::to_string(record.processes));
  text += key_line("repetitions", std::to_string(record.repetitions));
}

/// The part of a survey that the classic lines have no place for.
void add_survey(std::string& text, const Fragmentation& survey) {
  const FragmentCount& above = survey.above_threshold;
  const FragmentCount& all = survey.all_files;
  text += fmt::format("survey_above_threshold={} files larger than {} bytes, {} fragments\n", format_count(above.files),
                      survey.threshold_bytes, format_count(above.fragments));
  text += fmt::format("survey_all_files={} files, {} fragments, ratio {}\n", format_count(all.files),
                      format_count(all.fragments), format_ratio(all.ratio));
  if (!all.files) return;
  text += fmt::format("survey_extents={} shared, {} encoded in {} files, {} unwritten, {} inline, {} delayed\n",
                      survey.shared_extents, survey.encoded_extents, survey.encoded_files, survey.unwritten_extents,
                      survey.inline_extents, survey.delayed_extents);
}

void add_phase(std::string& text, const PhaseSlot& slot, std::uint64_t median_bytes, int processes) {
  const PhaseRecord& phase = *slot.phase;
  text += fmt::format("********* Phase {}: {:<6} files of median size {} bytes ({} processes) *********\n", slot.number,
                      slot.label, median_bytes, processes);
  const std::string total = phase_time(slot);
  if (total == no_value) {
    text += fmt::format("{:<6} : {}\ntotal {:<6} time: {}\n", slot.label, no_value, slot.label, no_value);
  } else {
    for (const double seconds : phase.repetition_seconds) {
      text += fmt::format("{:<6} : {} sec.\n", slot.label, format_seconds(seconds));
    }
    text += fmt::format("total {:<6} time: {} sec.\n", slot.label, total);
  }
  const bool surveyed = phase.used_kib || phase.directories || phase.files || phase.fragmentation;
  if (surveyed) {
    const FragmentCount count = phase.fragmentation ? phase.fragmentation->above_threshold : FragmentCount{};
    text += fmt::format("Used disk space (df) : {}{}\n", phase_used(slot), phase.used_kib ? " KB" : "");
    text +=
        fmt::format("Total dirs: {}\nTotal files: {}\n", format_count(phase.directories), format_count(phase.files));
    text += fmt::format("Total fragments : {}\nFragments / files :{}\n", format_count(count.fragments),
                        phase_fragmentation(slot));
  }
  if (phase.fragmentation) add_survey(text, *phase.fragmentation);
  text += fmt::format("operations={} of {}\n", phase.operations, phase.planned_operations);
  if (phase.bytes != 0) text += fmt::format("bytes={}\n", phase.bytes);
  if (phase.status != Status::skipped) {
    if (phase.sync_seconds) text += fmt::format("sync_time={} sec.\n", format_seconds(phase.sync_seconds));
    text += fmt::format("cpu_time=user {} sec., system {} sec.\n", format_seconds(phase.cpu_user_seconds),
                        format_seconds(phase.cpu_system_seconds));
  }
  for (const ErrorRecord& error : phase.errors) {
    text += fmt::format("error={} {} {} times{}\n", one_line(error.operation), one_line(error.name), error.count,
                        error.first_path.empty() ? "" : ", first at " + one_line(error.first_path));
  }
  text += key_line("note", phase_note(phase));
  text += key_line("note", fragmentation_note(phase));
  text += fmt::format("\n");
}

std::string render(const RunRecord& record) {
  std::string text;
  const std::string filesystem = one_line(record.filesystem);
  const char* end = "******* The end of mongo_single_process *******\n\n";
  if (record.passes.empty()) {
    text += fmt::format("FILESYSTEM={}\nmongo_single_process, no set of parameters was run\n", filesystem);
    add_run(text, record);
    text += fmt::format("\n{}", end);
  }
  std::size_t number = 0;
  for (const PassRecord& pass : record.passes) {
    text += fmt::format("FILESYSTEM={}\nmongo_single_process, the_set_of_paramN={} of {}\n", filesystem, ++number,
                        record.passes.size());
    add_run(text, record);
    text +=
        fmt::format("mkfs_time={}\n", pass.mkfs_seconds > 0 ? format_seconds(pass.mkfs_seconds) + " sec." : no_value);
    text += fmt::format("planned_files={}\n", pass.planned_files);
    bool any = false;
    for (const PhaseSlot& slot : phase_slots(pass)) {
      if (slot.phase == nullptr) continue;
      any = true;
      add_phase(text, slot, pass.median_file_size_bytes, record.processes);
    }
    text += fmt::format("{}{}", any ? "" : "\n", end);
  }
  return text;
}

}  // namespace

extern const Format entry;
const Format entry = {"", "the log: every repetition of every phase, what was run on what, and what went wrong", 20,
                      render};

}  // namespace mongo::format_log
