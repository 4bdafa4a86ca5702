// LOG: the long log, in the words of the original tool. A reader finds a figure by the first word of its line; what
// this tool adds is written as key=value, with keys that are no first word of the old log.

#include <fmt/format.h>

#include "harness/core/quote.h"
#include "harness/report/conditions.h"
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

const char* yes_no(bool value) { return value ? "yes" : "no"; }

/// A list of names and values, without those that are not known.
class Parts {
 public:
  void add(const char* name, const std::string& value) {
    if (!value.empty()) text_ += fmt::format("{}{} {}", text_.empty() ? "" : ", ", name, value);
  }
  void add(const char* name, std::optional<bool> value) { add(name, std::string(value ? yes_no(*value) : "")); }
  void add(const char* name, std::optional<std::uint64_t> value, const char* unit = "") {
    if (value) add(name, fmt::format("{}{}", *value, unit));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string queue_text(const DeviceRecord& device) {
  Parts parts;
  parts.add("scheduler", device.scheduler);
  parts.add("write cache", device.write_cache);
  parts.add("rotational", device.rotational);
  parts.add("depth", device.queue_depth);
  parts.add("logical sector", device.logical_sector_bytes, " bytes");
  parts.add("physical sector", device.physical_sector_bytes, " bytes");
  return parts.text();
}

std::string loop_text(const DeviceRecord& device) {
  Parts parts;
  parts.add("direct I/O", device.direct_io);
  parts.add("preallocated", device.preallocated);
  return parts.text();
}

void add_host(std::string& text, const HostRecord& host) {
  text += key_line("host", host.name);
  text += key_line("kernel", host.kernel);
  text += key_line("machine", host.machine);
  text += key_line("distribution", host.distribution);
  text += key_line("cpu_model", host.cpu_model);
  if (host.cpus) text += fmt::format("cpus={}\n", *host.cpus);
  if (host.memory_bytes) text += fmt::format("memory={} bytes\n", *host.memory_bytes);
  text += key_line("virtualisation", host.virtualisation);
  Parts clock;
  clock.add("source", host.clock_source);
  clock.add("smallest step", host.clock_resolution_ns, " ns");
  text += key_line("clock", clock.text());
  text += key_line("governor", host.governor);
  if (host.load) text += fmt::format("load_before={}\n", format_ratio(host.load));
  for (const std::string& mitigation : host.mitigations) text += key_line("mitigation", mitigation);
}

void add_run(std::string& text, const RunRecord& record, const PassRecord* pass) {
  text += key_line("run_id", record.run_id);
  text += key_line("status", status_name(record.status));
  text += key_line("reason", record.reason);
  for (const std::string& note : record.notes) text += key_line("run_note", note);
  text += key_line("started", record.started_at);
  text += key_line("ended", record.ended_at);
  text += key_line("mongo_version", record.mongo_version);
  add_host(text, record.host);
  text += key_line("device", device_text(record.device));
  text += key_line("device_queue", queue_text(record.device));
  text += key_line("loop_device", loop_text(record.device));
  for (const Signature& signature : record.device.destroyed) text += key_line("destroyed", signature_text(signature));
  text += key_line("mkfs", quote_argv(record.mkfs.argv));
  text += key_line("mkfs_version", record.mkfs.version);
  if (record.mkfs.lazy_initialisation) {
    text += key_line("mkfs_lazy_initialisation", yes_no(*record.mkfs.lazy_initialisation));
  }
  text += key_line("mount_point", record.mount.point);
  text += key_line("mount_requested", record.mount.requested);
  text += key_line("mount_effective", record.mount.effective);
  text += key_line("libmount_version", record.mount.version);
  text += key_line("profile", record.profile);
  text += key_line("processes", std::to_string(record.processes));
  text += key_line("repetitions", std::to_string(record.repetitions));
  if (record.phase_timeout_seconds) {
    text += fmt::format("phase_timeout={} sec.\n", format_seconds(record.phase_timeout_seconds));
  }
  for (const Condition& condition : conditions(record, pass)) text += key_line(condition.key, condition.value);
}

/// "0: 12, 1: 160": the smallest value of each bucket and how many are in it.
std::string buckets_text(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& histogram) {
  std::string text;
  for (const auto& [lowest, count] : histogram) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", lowest, count);
  }
  return text;
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
  text += key_line("files_by_fragments", buckets_text(survey.files_by_fragments));
  text += key_line("survey_method", survey.method);
}

void add_space(std::string& text, const PhaseRecord& phase) {
  if (phase.data_bytes) text += fmt::format("data_bytes={}\n", *phase.data_bytes);
  if (phase.allocated_bytes) text += fmt::format("allocated_bytes={}\n", *phase.allocated_bytes);
  if (!phase.free_space) return;
  const FreeSpace& space = *phase.free_space;
  if (!space.extents) {
    text += key_line("free_space", "unknown" + (space.reason.empty() ? "" : ", " + space.reason));
    return;
  }
  text +=
      fmt::format("free_space={} extents, {} bytes, largest {} bytes{}\n", *space.extents, format_count(space.bytes),
                  format_count(space.largest_bytes), space.method.empty() ? "" : ", " + one_line(space.method));
  text += key_line("free_extents_by_bytes", buckets_text(space.histogram));
}

/// Nothing for caches that were left alone, as was asked.
std::string cache_line(const CacheRecord& cache) {
  std::string text = cache_text(cache);
  if (text == "warm") return "";
  if (cache.sampled_files) {
    text += fmt::format(", {} bytes of {} sampled files in memory", format_count(cache.resident_bytes),
                        *cache.sampled_files);
  }
  return key_line("cache_before", text + fmt::format(", {} sec.", format_seconds(cache.seconds)));
}

/// What was measured beside the time, of a phase that was run.
void add_measured(std::string& text, const PhaseRecord& phase) {
  if (phase.sync_seconds) text += fmt::format("sync_time={} sec.\n", format_seconds(phase.sync_seconds));
  text += fmt::format("cpu_time=user {} sec., system {} sec.\n", format_seconds(phase.cpu_user_seconds),
                      format_seconds(phase.cpu_system_seconds));
  if (phase.cpu_percent || phase.machine_cpu_percent) {
    text += fmt::format("cpu_percent=workers {}, machine {}\n", format_percent(phase.cpu_percent),
                        format_percent(phase.machine_cpu_percent));
  }
  text += cache_line(phase.cache);
  if (phase.suspended_seconds) text += fmt::format("suspended={} sec.\n", format_seconds(phase.suspended_seconds));
  if (phase.verified_files) {
    text += fmt::format("verified={} files, {} sec.\n", *phase.verified_files, format_seconds(phase.verify_seconds));
  }
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
  add_space(text, phase);
  text += fmt::format("operations={} of {}\n", phase.operations, phase.planned_operations);
  if (phase.bytes != 0) text += fmt::format("bytes={}\n", phase.bytes);
  if (phase.status != Status::skipped) add_measured(text, phase);
  text += key_line("flags", fmt::format("{}", fmt::join(phase.flags, ", ")));
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
    add_run(text, record, nullptr);
    text += fmt::format("\n{}", end);
  }
  std::size_t number = 0;
  for (const PassRecord& pass : record.passes) {
    text += fmt::format("FILESYSTEM={}\nmongo_single_process, the_set_of_paramN={} of {}\n", filesystem, ++number,
                        record.passes.size());
    add_run(text, record, &pass);
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
