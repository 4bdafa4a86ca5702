#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/core/errors.h"
#include "harness/report/record_json.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

using Json = nlohmann::ordered_json;

/// A value and the place where it stands, for messages.
class Node {
 public:
  Node(const Json& json, std::string place) : json_(json), place_(std::move(place)) {}

  [[noreturn]] void refuse(const std::string& reason) const {
    throw UsageError(fmt::format("{}: {}", place_.empty() ? "/" : place_, reason));
  }

  bool has(const char* key) const { return json_.contains(key); }

  Node at(const char* key) const {
    if (!json_.is_object()) refuse(wrong_type("an object"));
    const auto found = json_.find(key);
    if (found == json_.end()) refuse(fmt::format("the field \"{}\" is missing", key));
    return {*found, place_ + "/" + key};
  }

  template <typename Read>
  auto each(Read read) const {
    if (!json_.is_array()) refuse(wrong_type("an array"));
    std::vector<decltype(read(*this))> values;
    values.reserve(json_.size());
    for (std::size_t i = 0; i < json_.size(); ++i)
      values.push_back(read(Node{json_[i], fmt::format("{}/{}", place_, i)}));
    return values;
  }

  bool is_null() const { return json_.is_null(); }
  bool is_object() const { return json_.is_object(); }

  std::string text() const {
    if (!json_.is_string()) refuse(wrong_type("a string"));
    return json_.get<std::string>();
  }
  std::string text_or_null() const { return is_null() ? std::string() : text(); }
  std::string name() const {
    std::string value = text();
    if (value.empty()) refuse("must not be empty");
    return value;
  }

  std::string one_of(const std::vector<std::string>& allowed) const {
    std::string value = text();
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
      refuse(wrong_type(fmt::format("one of {}", fmt::join(allowed, ", "))));
    }
    return value;
  }

  std::uint64_t count() const {
    // A number that was parsed is unsigned; one that a program made may be signed.
    const bool whole = json_.is_number_unsigned() || (json_.is_number_integer() && json_.get<std::int64_t>() >= 0);
    if (!whole) refuse(wrong_type("a whole number, 0 or more"));
    return json_.get<std::uint64_t>();
  }
  std::optional<std::uint64_t> count_or_null() const {
    return is_null() ? std::nullopt : std::optional<std::uint64_t>(count());
  }
  int small_number(int least) const {
    constexpr auto most = std::numeric_limits<int>::max();
    const bool fits = json_.is_number_unsigned() ? json_.get<std::uint64_t>() <= static_cast<std::uint64_t>(most)
                                                 : json_.is_number_integer() && json_.get<std::int64_t>() <= most;
    if (!fits || json_.get<std::int64_t>() < least) {
      refuse(wrong_type(fmt::format("a whole number from {} to {}", least, most)));
    }
    return json_.get<int>();
  }

  bool flag() const {
    if (!json_.is_boolean()) refuse(wrong_type("true or false"));
    return json_.get<bool>();
  }
  std::optional<bool> flag_or_null() const { return is_null() ? std::nullopt : std::optional<bool>(flag()); }

  std::vector<std::string> texts() const {
    return each([](const Node& n) { return n.text(); });
  }

  std::optional<double> number_or_null() const {
    if (is_null()) return std::nullopt;
    if (!json_.is_number() || !std::isfinite(json_.get<double>()) || json_.get<double>() < 0) {
      refuse(wrong_type("a number, 0 or more, or null"));
    }
    return json_.get<double>();
  }
  /// 0 for what was not done; to_json writes that as null again.
  double duration() const { return number_or_null().value_or(0); }
  /// For fields in which 0 is a measurement.
  double number_or_nan() const { return number_or_null().value_or(std::numeric_limits<double>::quiet_NaN()); }

  Status status() const {
    const std::string value = text();
    const std::optional<Status> parsed = parse_status(value);
    if (!parsed) {
      refuse(
          fmt::format("\"{}\" is not a status; it is one of ok, incomplete, failed, unsupported, interrupted, skipped",
                      one_line(value)));
    }
    return *parsed;
  }

 private:
  std::string wrong_type(const std::string& wanted) const {
    std::string found = json_.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (found.size() > 60) found = found.substr(0, 60) + "...";
    return fmt::format("must be {}, but is {}", wanted, found);
  }

  const Json& json_;
  std::string place_;
};

using Buckets = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

Buckets read_buckets(const Node& node) {
  return node.each([](const Node& bucket) {
    const std::vector<std::uint64_t> pair = bucket.each([](const Node& n) { return n.count(); });
    if (pair.size() != 2) bucket.refuse("must be a pair: the smallest value of the bucket and its count");
    return std::pair(pair[0], pair[1]);
  });
}

FragmentCount read_fragment_count(const Node& node) {
  return {node.at("files").count_or_null(), node.at("fragments").count_or_null(), node.at("ratio").number_or_null()};
}

Fragmentation read_fragmentation(const Node& node) {
  Fragmentation survey;
  survey.above_threshold = read_fragment_count(node);
  survey.method = node.at("method").text_or_null();
  survey.reason = node.at("reason").text_or_null();
  survey.threshold_bytes = node.at("threshold_bytes").count();
  survey.all_files = read_fragment_count(node.at("all_files"));
  const auto extents = [&](const char* key) { return node.at(key).count_or_null().value_or(0); };
  survey.shared_extents = extents("shared_extents");
  survey.encoded_extents = extents("encoded_extents");
  survey.encoded_files = extents("encoded_files");
  survey.unwritten_extents = extents("unwritten_extents");
  survey.inline_extents = extents("inline_extents");
  survey.delayed_extents = extents("delayed_extents");
  survey.files_by_fragments = read_buckets(node.at("files_by_fragments"));
  survey.survey_seconds = node.at("survey_seconds").duration();
  return survey;
}

FreeSpace read_free_space(const Node& node) {
  FreeSpace space;
  space.method = node.at("method").text_or_null();
  space.reason = node.at("reason").text_or_null();
  space.extents = node.at("extents").count_or_null();
  space.bytes = node.at("bytes").count_or_null();
  space.largest_bytes = node.at("largest_bytes").count_or_null();
  space.histogram = read_buckets(node.at("histogram"));
  return space;
}

CacheRecord read_cache(const Node& node) {
  CacheRecord cache;
  cache.requested = node.at("requested").one_of({"warm", "drop", "remount"});
  cache.state = node.at("state").one_of({"warm", "drop", "remount"});
  cache.reason = node.at("reason").text_or_null();
  cache.sampled_files = node.at("sampled_files").count_or_null();
  cache.resident_bytes = node.at("resident_bytes").count_or_null();
  cache.seconds = node.at("seconds").number_or_nan();
  return cache;
}

ErrorRecord read_error(const Node& node) {
  ErrorRecord error;
  error.operation = node.at("operation").text();
  error.code = node.at("code").small_number(0);
  error.name = node.at("name").text();
  error.count = node.at("count").count();
  error.first_path = node.at("first_path").text_or_null();
  return error;
}

std::optional<DeviceActivity> read_activity(const Node& node) {
  if (node.is_null()) return std::nullopt;
  return DeviceActivity{node.at("read_requests").count(), node.at("read_bytes").count(),
                        node.at("write_requests").count(), node.at("written_bytes").count(),
                        node.at("flushes").count()};
}

LatencyRecord read_latency(const Node& node) {
  LatencyRecord latency;
  latency.operation = node.at("operation").text();
  latency.count = node.at("count").count();
  latency.mean_ns = node.at("mean_ns").number_or_nan();
  latency.p50_ns = node.at("p50_ns").number_or_null();
  latency.p95_ns = node.at("p95_ns").number_or_null();
  latency.p99_ns = node.at("p99_ns").number_or_null();
  latency.p99_9_ns = node.at("p99_9_ns").number_or_null();
  latency.max_ns = node.at("max_ns").count();
  latency.histogram = read_buckets(node.at("histogram"));
  return latency;
}

PhaseRecord read_phase(const Node& node) {
  PhaseRecord phase;
  phase.name = node.at("name").name();
  phase.label = node.at("label").name();
  phase.status = node.at("status").status();
  phase.reason = node.at("reason").text_or_null();
  phase.seconds = node.at("seconds").number_or_null();
  phase.repetition_seconds = node.at("repetition_seconds").each([](const Node& n) { return n.number_or_nan(); });
  if (phase.status != Status::ok && phase.seconds) node.at("seconds").refuse("must be null: the phase is not ok");
  if (phase.status != Status::ok && !phase.repetition_seconds.empty()) {
    node.at("repetition_seconds").refuse("must be empty: the phase is not ok");
  }
  phase.elapsed_seconds = node.at("elapsed_seconds").duration();
  phase.sync_seconds = node.at("sync_seconds").number_or_null();
  phase.operations = node.at("operations").count();
  phase.planned_operations = node.at("planned_operations").count();
  phase.bytes = node.at("bytes").count();
  phase.cpu_user_seconds = node.at("cpu_user_seconds").number_or_nan();
  phase.cpu_system_seconds = node.at("cpu_system_seconds").number_or_nan();
  phase.machine_cpu_seconds = node.at("machine_cpu_seconds").number_or_null();
  phase.cpu_percent = node.at("cpu_percent").number_or_null();
  phase.machine_cpu_percent = node.at("machine_cpu_percent").number_or_null();
  phase.device = read_activity(node.at("device"));
  phase.device_sync = read_activity(node.at("device_sync"));
  phase.write_amplification = node.at("write_amplification").number_or_null();
  phase.start_skew_seconds = node.at("start_skew_seconds").number_or_nan();
  phase.overlap = node.at("overlap").number_or_null();
  if (phase.overlap && *phase.overlap > 1) node.at("overlap").refuse("must be at most 1");
  phase.cache = read_cache(node.at("cache"));
  phase.suspended_seconds = node.at("suspended_seconds").number_or_null();
  phase.verified_files = node.at("verified_files").count_or_null();
  phase.verify_seconds = node.at("verify_seconds").number_or_null();
  phase.flags = node.at("flags").texts();
  phase.latencies = node.at("latencies").each(read_latency);
  phase.errors = node.at("errors").each(read_error);
  if (node.has("used_kib")) phase.used_kib = node.at("used_kib").count_or_null();
  if (node.has("data_bytes")) phase.data_bytes = node.at("data_bytes").count_or_null();
  if (node.has("allocated_bytes")) phase.allocated_bytes = node.at("allocated_bytes").count_or_null();
  if (node.has("directories")) phase.directories = node.at("directories").count_or_null();
  if (node.has("files")) phase.files = node.at("files").count_or_null();
  if (node.has("fragmentation") && !node.at("fragmentation").is_null()) {
    phase.fragmentation = read_fragmentation(node.at("fragmentation"));
  }
  if (node.has("free_space") && !node.at("free_space").is_null()) {
    phase.free_space = read_free_space(node.at("free_space"));
  }
  return phase;
}

PassRecord read_pass(const Node& node) {
  PassRecord pass;
  pass.median_file_size_bytes = node.at("median_file_size_bytes").count();
  pass.planned_files = node.at("planned_files").count();
  pass.files = node.at("files").count_or_null();
  pass.directories = node.at("directories").count_or_null();
  pass.mkfs_seconds = node.at("mkfs_seconds").duration();
  pass.phases = node.at("phases").each(read_phase);
  return pass;
}

Signature read_signature(const Node& node) {
  return {node.at("type").text(), node.at("usage").text_or_null(), node.at("label").text_or_null(),
          node.at("uuid").text_or_null()};
}

DeviceRecord read_device(const Node& node) {
  DeviceRecord device;
  device.given = node.at("given").text_or_null();
  device.resolved = node.at("resolved").text_or_null();
  device.kind = node.at("kind").text_or_null();
  device.major_minor = node.at("major_minor").text_or_null();
  device.size_bytes = node.at("size_bytes").count_or_null().value_or(0);
  device.backing = node.at("backing").text_or_null();
  device.model = node.at("model").text_or_null();
  device.serial = node.at("serial").text_or_null();
  device.by_id = node.at("by_id").text_or_null();
  device.scheduler = node.at("scheduler").text_or_null();
  device.write_cache = node.at("write_cache").text_or_null();
  device.rotational = node.at("rotational").flag_or_null();
  device.queue_depth = node.at("queue_depth").count_or_null();
  device.logical_sector_bytes = node.at("logical_sector_bytes").count_or_null();
  device.physical_sector_bytes = node.at("physical_sector_bytes").count_or_null();
  device.direct_io = node.at("direct_io").flag_or_null();
  device.preallocated = node.at("preallocated").flag_or_null();
  device.backing_filesystem = node.at("backing_filesystem").text_or_null();
  device.destroyed = node.at("destroyed").each(read_signature);
  return device;
}

HostRecord read_host(const Node& node) {
  HostRecord host;
  host.name = node.at("name").text_or_null();
  host.kernel = node.at("kernel").text_or_null();
  host.machine = node.at("machine").text_or_null();
  host.distribution = node.at("distribution").text_or_null();
  host.cpu_model = node.at("cpu_model").text_or_null();
  host.cpus = node.at("cpus").count_or_null();
  host.memory_bytes = node.at("memory_bytes").count_or_null();
  host.virtualisation = node.at("virtualisation").text_or_null();
  host.clock_source = node.at("clock_source").text_or_null();
  host.clock_resolution_ns = node.at("clock_resolution_ns").count_or_null();
  host.governor = node.at("governor").text_or_null();
  host.load = node.at("load").number_or_null();
  host.mitigations = node.at("mitigations").texts();
  return host;
}

}  // namespace

RunRecord record_from_json(const Json& json) {
  const Node node(json, "");
  RunRecord record;
  // First of all: in another schema nothing else can be relied on.
  record.schema = node.at("schema").small_number(0);
  if (record.schema != record_schema) {
    node.at("schema").refuse(
        fmt::format("this is schema {}, and this version of mongo reads schema {} only", record.schema, record_schema));
  }
  record.run_id = node.at("run_id").name();
  record.started_at = node.at("started_at").text_or_null();
  record.ended_at = node.at("ended_at").text_or_null();
  // Earlier records of this schema do not have it.
  if (node.has("utc_offset")) record.utc_offset = node.at("utc_offset").text_or_null();
  record.status = node.at("status").status();
  record.reason = node.at("reason").text_or_null();
  record.notes = node.at("notes").texts();
  record.flags = node.at("flags").texts();
  record.warnings = node.at("warnings").texts();
  record.mongo_version = node.at("mongo_version").text_or_null();
  record.log = node.at("log").text();
  record.host = read_host(node.at("host"));
  record.device = read_device(node.at("device"));
  record.environment = node.at("environment").one_of({"host", "uml"});
  record.guest_kernel = node.at("guest_kernel").text_or_null();
  record.implementation = node.at("implementation").text_or_null();
  record.filesystem = node.at("filesystem").name();
  const Node mkfs = node.at("mkfs");
  record.mkfs.argv = mkfs.at("argv").texts();
  record.mkfs.options = mkfs.at("options").texts();
  record.mkfs.version = mkfs.at("version").text_or_null();
  record.mkfs.seconds = mkfs.at("seconds").duration();
  record.mkfs.lazy_initialisation = mkfs.at("lazy_initialisation").flag_or_null();
  const Node mount = node.at("mount");
  record.mount = {mount.at("point").text_or_null(), mount.at("requested").text(), mount.at("effective").text_or_null(),
                  mount.at("version").text_or_null(), mount.at("settings").texts()};
  record.processes = node.at("processes").small_number(1);
  record.repetitions = node.at("repetitions").small_number(1);
  record.profile = node.at("profile").text_or_null();
  record.content = node.at("content").name();
  record.sync = node.at("sync").one_of({"each", "phase", "none"});
  record.verify = node.at("verify").flag();
  record.phase_timeout_seconds = node.at("phase_timeout_seconds").number_or_null();
  record.passes = node.at("passes").each(read_pass);
  return record;
}

}  // namespace mongo
