#include "harness/report/record_json.h"

#include <cmath>

#include "harness/report/text.h"

namespace mongo {
namespace {

using Json = nlohmann::ordered_json;

Json text(const std::string& value) { return valid_utf8(value); }

Json texts(const std::vector<std::string>& values) {
  Json array = Json::array();
  for (const std::string& value : values) array.push_back(text(value));
  return array;
}

/// For texts that are empty when they are not known.
Json text_or_null(const std::string& value) { return value.empty() ? Json(nullptr) : text(value); }

/// JSON has no NaN, and a negative length of time has not been measured.
Json number(double value) { return std::isfinite(value) && value >= 0 ? Json(value) : Json(nullptr); }

Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

/// For what took time if it was done at all.
Json duration(double value) { return value > 0 ? number(value) : Json(nullptr); }

Json count(const std::optional<std::uint64_t>& value) { return value ? Json(*value) : Json(nullptr); }

Json flag(const std::optional<bool>& value) { return value ? Json(*value) : Json(nullptr); }

/// [[smallest value of the bucket, how many], ...]
Json buckets(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& histogram) {
  Json json = Json::array();
  for (const auto& [lowest, values] : histogram) json.push_back(Json::array({lowest, values}));
  return json;
}

Json to_json(const FragmentCount& fragments) {
  return Json{
      {"files", count(fragments.files)}, {"fragments", count(fragments.fragments)}, {"ratio", number(fragments.ratio)}};
}

Json to_json(const Fragmentation& survey) {
  Json json = to_json(survey.above_threshold);
  json["method"] = text_or_null(survey.method);
  json["reason"] = text_or_null(survey.reason);
  json["threshold_bytes"] = survey.threshold_bytes;
  json["all_files"] = to_json(survey.all_files);
  const bool read = survey.above_threshold.files || survey.all_files.files;
  const auto extents = [&](std::uint64_t value) { return read ? Json(value) : Json(nullptr); };
  json["shared_extents"] = extents(survey.shared_extents);
  json["encoded_extents"] = extents(survey.encoded_extents);
  json["encoded_files"] = extents(survey.encoded_files);
  json["unwritten_extents"] = extents(survey.unwritten_extents);
  json["inline_extents"] = extents(survey.inline_extents);
  json["delayed_extents"] = extents(survey.delayed_extents);
  json["files_by_fragments"] = buckets(survey.files_by_fragments);
  json["survey_seconds"] = duration(survey.survey_seconds);
  return json;
}

Json to_json(const FreeSpace& space) {
  return Json{{"method", text_or_null(space.method)},
              {"reason", text_or_null(space.reason)},
              {"extents", count(space.extents)},
              {"bytes", count(space.bytes)},
              {"largest_bytes", count(space.largest_bytes)},
              {"histogram", buckets(space.histogram)}};
}

Json to_json(const CacheRecord& cache) {
  return Json{{"requested", text(cache.requested)},
              {"state", text(cache.state)},
              {"reason", text_or_null(cache.reason)},
              {"sampled_files", count(cache.sampled_files)},
              {"resident_bytes", count(cache.resident_bytes)},
              {"seconds", number(cache.seconds)}};
}

Json to_json(const ErrorRecord& error) {
  return Json{{"operation", text(error.operation)},
              {"code", error.code},
              {"name", text(error.name)},
              {"count", error.count},
              {"first_path", text_or_null(error.first_path)}};
}

Json to_json(const std::optional<DeviceActivity>& activity) {
  if (!activity) return nullptr;
  return Json{{"read_requests", activity->read_requests},
              {"read_bytes", activity->read_bytes},
              {"write_requests", activity->write_requests},
              {"written_bytes", activity->written_bytes},
              {"flushes", activity->flushes}};
}

Json to_json(const LatencyRecord& latency) {
  Json json{{"operation", text(latency.operation)}, {"count", latency.count},
            {"mean_ns", number(latency.mean_ns)},   {"p50_ns", number(latency.p50_ns)},
            {"p95_ns", number(latency.p95_ns)},     {"p99_ns", number(latency.p99_ns)},
            {"p99_9_ns", number(latency.p99_9_ns)}, {"max_ns", latency.max_ns}};
  json["histogram"] = buckets(latency.histogram);
  return json;
}

Json to_json(const PhaseRecord& phase) {
  const bool ok = phase.status == Status::ok;
  const bool run = phase.status != Status::skipped;
  Json json;
  json["name"] = text(phase.name);
  json["label"] = text(phase.label);
  json["status"] = status_name(phase.status);
  json["reason"] = text_or_null(phase.reason);
  json["seconds"] = ok ? number(phase.seconds) : Json(nullptr);
  json["repetition_seconds"] = Json::array();
  if (ok) {
    for (const double seconds : phase.repetition_seconds) json["repetition_seconds"].push_back(number(seconds));
  }
  json["elapsed_seconds"] = duration(phase.elapsed_seconds);
  json["sync_seconds"] = number(phase.sync_seconds);
  json["operations"] = phase.operations;
  json["planned_operations"] = phase.planned_operations;
  json["bytes"] = phase.bytes;
  json["cpu_user_seconds"] = run ? number(phase.cpu_user_seconds) : Json(nullptr);
  json["cpu_system_seconds"] = run ? number(phase.cpu_system_seconds) : Json(nullptr);
  json["machine_cpu_seconds"] = number(phase.machine_cpu_seconds);
  json["cpu_percent"] = number(phase.cpu_percent);
  json["machine_cpu_percent"] = number(phase.machine_cpu_percent);
  json["device"] = to_json(phase.device);
  json["device_sync"] = to_json(phase.device_sync);
  json["write_amplification"] = number(phase.write_amplification);
  json["start_skew_seconds"] = run ? number(phase.start_skew_seconds) : Json(nullptr);
  json["overlap"] = number(phase.overlap);
  json["cache"] = to_json(phase.cache);
  json["suspended_seconds"] = number(phase.suspended_seconds);
  json["verified_files"] = count(phase.verified_files);
  json["verify_seconds"] = number(phase.verify_seconds);
  json["flags"] = texts(phase.flags);
  json["latencies"] = Json::array();
  for (const LatencyRecord& latency : phase.latencies) json["latencies"].push_back(to_json(latency));
  json["errors"] = Json::array();
  for (const ErrorRecord& error : phase.errors) json["errors"].push_back(to_json(error));
  if (phase.used_kib || phase.directories || phase.files || phase.fragmentation) {
    json["used_kib"] = count(phase.used_kib);
    json["data_bytes"] = count(phase.data_bytes);
    json["allocated_bytes"] = count(phase.allocated_bytes);
    json["directories"] = count(phase.directories);
    json["files"] = count(phase.files);
    json["fragmentation"] = phase.fragmentation ? to_json(*phase.fragmentation) : Json(nullptr);
    json["free_space"] = phase.free_space ? to_json(*phase.free_space) : Json(nullptr);
  }
  return json;
}

Json to_json(const PassRecord& pass) {
  Json json;
  json["median_file_size_bytes"] = pass.median_file_size_bytes;
  json["planned_files"] = pass.planned_files;
  json["files"] = count(pass.files);
  json["directories"] = count(pass.directories);
  json["mkfs_seconds"] = duration(pass.mkfs_seconds);
  json["phases"] = Json::array();
  for (const PhaseRecord& phase : pass.phases) json["phases"].push_back(to_json(phase));
  return json;
}

Json to_json(const Signature& signature) {
  return Json{{"type", text(signature.type)},
              {"usage", text_or_null(signature.usage)},
              {"label", text_or_null(signature.label)},
              {"uuid", text_or_null(signature.uuid)}};
}

Json to_json(const DeviceRecord& device) {
  Json json;
  json["given"] = text_or_null(device.given);
  json["resolved"] = text_or_null(device.resolved);
  json["kind"] = text_or_null(device.kind);
  json["major_minor"] = text_or_null(device.major_minor);
  json["size_bytes"] = device.size_bytes != 0 ? Json(device.size_bytes) : Json(nullptr);
  json["backing"] = text_or_null(device.backing);
  json["model"] = text_or_null(device.model);
  json["serial"] = text_or_null(device.serial);
  json["by_id"] = text_or_null(device.by_id);
  json["scheduler"] = text_or_null(device.scheduler);
  json["write_cache"] = text_or_null(device.write_cache);
  json["rotational"] = flag(device.rotational);
  json["queue_depth"] = count(device.queue_depth);
  json["logical_sector_bytes"] = count(device.logical_sector_bytes);
  json["physical_sector_bytes"] = count(device.physical_sector_bytes);
  json["direct_io"] = flag(device.direct_io);
  json["preallocated"] = flag(device.preallocated);
  json["backing_filesystem"] = text_or_null(device.backing_filesystem);
  json["destroyed"] = Json::array();
  for (const Signature& signature : device.destroyed) json["destroyed"].push_back(to_json(signature));
  return json;
}

Json to_json(const MkfsRecord& mkfs) {
  return Json{{"argv", texts(mkfs.argv)},
              {"options", texts(mkfs.options)},
              {"version", text_or_null(mkfs.version)},
              {"seconds", duration(mkfs.seconds)},
              {"lazy_initialisation", flag(mkfs.lazy_initialisation)}};
}

Json to_json(const HostRecord& host) {
  return Json{{"name", text_or_null(host.name)},
              {"kernel", text_or_null(host.kernel)},
              {"machine", text_or_null(host.machine)},
              {"distribution", text_or_null(host.distribution)},
              {"cpu_model", text_or_null(host.cpu_model)},
              {"cpus", count(host.cpus)},
              {"memory_bytes", count(host.memory_bytes)},
              {"virtualisation", text_or_null(host.virtualisation)},
              {"clock_source", text_or_null(host.clock_source)},
              {"clock_resolution_ns", count(host.clock_resolution_ns)},
              {"governor", text_or_null(host.governor)},
              {"load", number(host.load)},
              {"mitigations", texts(host.mitigations)}};
}

}  // namespace

Json to_json(const RunRecord& record) {
  Json json;
  json["schema"] = record_schema;
  json["run_id"] = text(record.run_id);
  json["started_at"] = text_or_null(record.started_at);
  json["ended_at"] = text_or_null(record.ended_at);
  json["utc_offset"] = text_or_null(record.utc_offset);
  json["status"] = status_name(record.status);
  json["reason"] = text_or_null(record.reason);
  json["notes"] = texts(record.notes);
  json["flags"] = texts(record.flags);
  json["warnings"] = texts(record.warnings);
  json["mongo_version"] = text_or_null(record.mongo_version);
  json["log"] = text(record.log);
  json["host"] = to_json(record.host);
  json["device"] = to_json(record.device);
  json["environment"] = text(record.environment);
  json["guest_kernel"] = text_or_null(record.guest_kernel);
  json["filesystem"] = text(record.filesystem);
  json["implementation"] = text_or_null(record.implementation);
  json["mkfs"] = to_json(record.mkfs);
  json["mount"] = Json{{"point", text_or_null(record.mount.point)},
                       {"requested", text(record.mount.requested)},
                       {"effective", text_or_null(record.mount.effective)},
                       {"version", text_or_null(record.mount.version)},
                       {"settings", texts(record.mount.settings)}};
  json["processes"] = record.processes;
  json["repetitions"] = record.repetitions;
  json["profile"] = text_or_null(record.profile);
  json["content"] = text(record.content);
  json["sync"] = text(record.sync);
  json["verify"] = record.verify;
  json["phase_timeout_seconds"] = number(record.phase_timeout_seconds);
  json["passes"] = Json::array();
  for (const PassRecord& pass : record.passes) json["passes"].push_back(to_json(pass));
  return json;
}

std::string to_json_line(const RunRecord& record) {
  return to_json(record).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace mongo
