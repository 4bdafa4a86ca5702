#include "harness/report/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace mongo {
namespace {

struct Meaning {
  const char* flag;
  const char* text;
};

constexpr Meaning meanings[] = {
    {"loop-device", "figures from a loop device are for trying out, not for choosing a disk"},
    {"ram-device", "figures from a device in memory show the file system's own work, not that of a disk"},
    {"existing-directory", "the file system is in use for other things, and was not made for this run"},
    {"low-overlap", "the processes worked at the same time for less than 90 % of it"},
    {"too-short", "too short for its time to be exact"},
    {"cache-fallback", "the caches were not brought into the state that was asked for, but into another"},
    {"cache-not-empty", "some pages were in memory although the caches had been emptied"},
    {"cache-not-verified", "whether the caches were empty could not be found out"},
    {"few-device-reads",
     "less than 95 % of what was read came from the device: the rest is packed smaller, or in memory"},
    {"guest", "the phases ran in a User-mode Linux guest: their times compare with those of such a guest only"},
    {"second-page-cache", "the file behind the loop device is cached too: reads may come from memory"},
    {"lazy-initialisation", "ext4 wrote its inode tables behind the phases' back"},
};

std::string fragment_methods(const PassRecord& pass) {
  std::set<std::string> methods;
  for (const PhaseRecord& phase : pass.phases) {
    if (phase.fragmentation && !phase.fragmentation->method.empty()) methods.insert(phase.fragmentation->method);
  }
  if (methods == std::set<std::string>{"FIEMAP"}) return "";
  return fmt::format("{}", fmt::join(methods, ", "));
}

}  // namespace

std::string environment_text(const RunRecord& run) {
  return run.guest_kernel.empty() ? run.environment : fmt::format("{} ({})", run.environment, run.guest_kernel);
}

std::string directory_filesystem(const RunRecord& run) {
  return run.device.kind == "directory" ? run.implementation : "";
}

std::string cache_state(const CacheRecord& cache) {
  return cache.state == cache.requested ? cache.state : cache.state + " instead of " + cache.requested;
}

std::string cache_text(const CacheRecord& cache) {
  return cache_state(cache) + (cache.reason.empty() ? "" : " (" + cache.reason + ")");
}

std::string cache_summary(const PassRecord& pass) {
  struct Group {
    std::string state;
    std::vector<std::string> phases;
  };
  std::vector<Group> groups;
  for (const PhaseRecord& phase : pass.phases) {
    if (phase.status == Status::skipped) continue;
    const std::string state = cache_state(phase.cache);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.state == state; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{state, {}});
    group->phases.push_back(phase.name);
  }
  if (groups.size() == 1) return groups[0].state == "warm" ? "" : groups[0].state;
  std::string text;
  for (const Group& group : groups) {
    if (group.state == "warm") continue;
    text += fmt::format("{}{} before {}", text.empty() ? "" : "; ", group.state, fmt::join(group.phases, ", "));
  }
  return text;
}

std::vector<Condition> conditions(const RunRecord& record, const PassRecord* pass) {
  std::vector<Condition> all = {{"environment", environment_text(record)}};
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) all.push_back({key, value});
  };
  add("implementation", record.implementation);
  for (const std::string& setting : record.mount.settings) add("setting", setting);
  add("sync", record.sync);
  if (pass != nullptr) add("cache", cache_summary(*pass));
  if (record.content != "random") add("content", record.content);
  if (record.verify) add("verify", "yes");
  if (pass != nullptr) add("fragments_method", fragment_methods(*pass));
  for (const std::string& flag : record.flags) add("run_flag", flag);
  for (const std::string& warning : record.warnings) add("run_warning", warning);
  return all;
}

std::string sync_text(const std::string& sync) {
  if (sync == "phase") return "";
  if (sync == "each") return "fsync after each file";
  if (sync == "none") return "no sync after the phases";
  return "sync " + sync;
}

std::string process_count(int processes) {
  return fmt::format("{} {}", processes, processes == 1 ? "process" : "processes");
}

std::string flag_text(const std::string& flag) {
  for (const Meaning& meaning : meanings) {
    if (flag == meaning.flag) return fmt::format("{}: {}", flag, meaning.text);
  }
  return flag;
}

}  // namespace mongo
