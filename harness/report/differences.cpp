#include "harness/report/differences.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/report/conditions.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

constexpr std::size_t line_width = 100;

struct Feature {
  const char* what;
  std::string (*value)(const RunRecord&);  // empty: not known
};

std::string device_text(const RunRecord& run) {
  const DeviceRecord& device = run.device;
  std::string text = device.kind;
  // Of a directory only what it lies on is known.
  if (device.kind == "directory" && !device.resolved.empty()) text += " on " + device.resolved;
  if (!device.model.empty()) text += " " + device.model;
  if (!device.serial.empty()) text += " " + device.serial;
  if (device.size_bytes != 0) text += fmt::format(" {} bytes", device.size_bytes);
  return text;
}

std::string sector_text(const RunRecord& run) {
  const DeviceRecord& device = run.device;
  if (!device.logical_sector_bytes && !device.physical_sector_bytes) return "";
  return fmt::format("{}/{} bytes", format_count(device.logical_sector_bytes),
                     format_count(device.physical_sector_bytes));
}

std::string direct_io_text(const RunRecord& run) {
  if (!run.device.direct_io) return run.device.kind == "loop" ? "" : "no loop device";
  return *run.device.direct_io ? "yes" : "no";
}

std::string yes_no(const std::optional<bool>& value) { return !value ? "" : *value ? "yes" : "no"; }

bool has_latencies(const RunRecord& run) {
  for (const PassRecord& pass : run.passes) {
    for (const PhaseRecord& phase : pass.phases) {
      if (!phase.latencies.empty()) return true;
    }
  }
  return false;
}

// A difference in any of these makes times differ whatever the file systems do.
constexpr Feature features[] = {
    {"environments", [](const RunRecord& r) { return environment_text(r); }},
    {"profiles", [](const RunRecord& r) { return r.profile; }},
    {"processes", [](const RunRecord& r) { return std::to_string(r.processes); }},
    {"repetitions", [](const RunRecord& r) { return std::to_string(r.repetitions); }},
    {"sync policies", [](const RunRecord& r) { return r.sync; }},
    {"contents", [](const RunRecord& r) { return r.content; }},
    {"verifications", [](const RunRecord& r) { return std::string(r.verify ? "yes" : "no"); }},
    {"hosts", [](const RunRecord& r) { return r.host.name; }},
    {"kernels", [](const RunRecord& r) { return r.host.kernel; }},
    {"devices", device_text},
    {"file systems of the directories", directory_filesystem},
    {"sector sizes (logical/physical)", sector_text},
    {"direct I/O settings", direct_io_text},
    {"preallocations", [](const RunRecord& r) { return yes_no(r.device.preallocated); }},
    {"file systems behind the loop devices", [](const RunRecord& r) { return r.device.backing_filesystem; }},
    {"latency measurements", [](const RunRecord& r) { return std::string(has_latencies(r) ? "yes" : "no"); }},
};

/// What the phases of that name found in this run; empty if it has no figures of them.
std::string cache_states(const RunRecord& run, const std::string& phase_name) {
  std::set<std::string> states;
  for (const PassRecord& pass : run.passes) {
    for (const PhaseRecord& phase : pass.phases) {
      if (phase.name == phase_name && phase.status != Status::skipped) states.insert(cache_state(phase.cache));
    }
  }
  return fmt::format("{}", fmt::join(states, " or "));
}

}  // namespace

Differences::Differences(const std::vector<RunRecord>& runs, const std::vector<ColumnName>& names) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto any = [](const PassRecord& pass) { return !pass.phases.empty(); };
    if (std::none_of(runs[i].passes.begin(), runs[i].passes.end(), any)) continue;
    runs_.push_back(&runs[i]);
    names_.push_back(names[i].text);
  }
  for (const Feature& feature : features) warnings_ += difference(feature.what, feature.value);
  same_conditions_ = warnings_.empty();
  find_caches();
  warnings_ += cache_warnings();
  find_common();
}

bool Differences::comparable(const std::string& phase) const {
  const auto caches = caches_.find(phase);
  return same_conditions_ && (caches == caches_.end() || caches->second.states.size() < 2);
}

std::string Differences::cache_note(const PhaseRecord& phase) const {
  const auto caches = caches_.find(phase.name);
  if (caches == caches_.end() || caches->second.texts.size() < 2) return "";  // common() has it
  const std::string text = cache_text(phase.cache);
  // Where only the reasons differ, the state is in common() too.
  if (text == "warm" || (caches->second.states.size() < 2 && phase.cache.reason.empty())) return "";
  return "caches: " + text;
}

std::string Differences::difference(const std::string& what, std::string (*value)(const RunRecord&)) const {
  std::vector<std::string> values;
  for (const RunRecord* run : runs_) {
    const std::string text = value(*run);
    values.push_back(text.empty() ? "unknown" : text);
  }
  return difference(what, values);
}

/// A line that names the difference, when there is one. An empty value belongs to a run that has nothing to differ.
std::string Differences::difference(const std::string& what, const std::vector<std::string>& values) const {
  std::set<std::string> distinct(values.begin(), values.end());
  distinct.erase("");
  if (distinct.size() < 2) return "";
  std::string list;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].empty()) continue;
    list += fmt::format("{}{}: {}", list.empty() ? "" : "; ", names_[i], ascii_line(values[i]));
  }
  return wrapped(fmt::format("warning: {} differ ({}); the figures are not comparable", what, list), line_width);
}

void Differences::find_caches() {
  for (const RunRecord* run : runs_) {
    for (const PassRecord& pass : run->passes) {
      for (const PhaseRecord& phase : pass.phases) {
        if (phase.status == Status::skipped) continue;
        if (!caches_.contains(phase.name)) phases_.push_back(phase.name);
        caches_[phase.name].states.insert(cache_state(phase.cache));
        caches_[phase.name].texts.insert(cache_text(phase.cache));
      }
    }
  }
}

/// Phases that differ in the same way share a line.
std::string Differences::cache_warnings() const {
  std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> groups;  // values of the runs, phases
  for (const std::string& phase : phases_) {
    std::vector<std::string> values;
    for (const RunRecord* run : runs_) values.push_back(cache_states(*run, phase));
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == values; });
    if (group == groups.end()) group = groups.insert(groups.end(), {values, {}});
    group->second.push_back(ascii_line(phase));
  }
  std::string out;
  for (const auto& [values, phases] : groups) {
    out += difference(fmt::format("caches before {}", fmt::join(phases, ", ")), values);
  }
  return out;
}

/// "drop before read, stat", of the phases that found the same in all runs and were not simply left warm.
std::string Differences::common_caches() const {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const std::string& phase : phases_) {
    const Caches& caches = caches_.at(phase);
    if (caches.states.size() != 1) continue;
    const std::string text = caches.texts.size() == 1 ? *caches.texts.begin() : *caches.states.begin();
    if (text == "warm") continue;
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == text; });
    if (group == groups.end()) group = groups.insert(groups.end(), {text, {}});
    group->second.push_back(phase);
  }
  std::string out;
  for (const auto& [text, phases] : groups) {
    const bool all = phases.size() == phases_.size();
    out += fmt::format("{}{}{}", out.empty() ? "caches: " : "; ", text,
                       all ? "" : fmt::format(" before {}", fmt::join(phases, ", ")));
  }
  return out;
}

void Differences::find_common() {
  if (runs_.empty()) return;
  const RunRecord& first = *runs_[0];
  const auto shared = [&](const auto& value) {
    return std::all_of(runs_.begin(), runs_.end(), [&](const RunRecord* run) { return value(*run) == value(first); });
  };
  std::vector<std::string> all = {common_caches()};
  if (first.environment != "host" && shared([](const RunRecord& r) { return r.environment; })) {
    all.push_back("environment " + environment_text(first));
  }
  if (shared([](const RunRecord& r) { return r.sync; })) all.push_back(sync_text(first.sync));
  if (first.content != "random" && shared([](const RunRecord& r) { return r.content; })) {
    all.push_back("content " + first.content);
  }
  if (first.verify && shared([](const RunRecord& r) { return r.verify; })) all.emplace_back("content verified");
  std::erase(all, "");
  if (!all.empty()) common_ = wrapped(ascii_line(fmt::format("In all runs: {}.", fmt::join(all, "; "))), line_width);
}

}  // namespace mongo
