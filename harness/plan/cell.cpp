#include "harness/plan/cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "fsdrivers/catalogue.h"
#include "harness/core/errors.h"
#include "harness/plan/changed_profile.h"
#include "harness/plan/mkfs_options.h"
#include "harness/plan/mount_options.h"
#include "harness/plan/words.h"
#include "phases/catalogue.h"
#include "phases/support/tree.h"

namespace mongo {
namespace {

const fsdrivers::FilesystemDriver& find_driver(const std::string& name) {
  if (const auto* driver = fsdrivers::find(name)) return *driver;
  std::vector<std::string> names;
  for (const auto& driver : fsdrivers::catalogue()) names.push_back(driver.name);
  const std::string hint = nearest(name, names);
  throw UsageError(fmt::format("file system '{}' is not known{}. There are: {}", name,
                               hint.empty() ? "" : fmt::format(" (did you mean {}?)", hint), fmt::join(names, ", ")));
}

std::vector<const phases::Phase*> choose_phases(const std::optional<std::string>& text) {
  const auto& all = phases::catalogue();
  if (!text) return all;
  std::vector<std::string> names;
  for (const phases::Phase* phase : all) names.emplace_back(phase->name);
  std::vector<const phases::Phase*> chosen;
  for (const std::string& name : split_commas(*text)) {
    const phases::Phase* phase = phases::find(name);
    if (phase == nullptr) {
      const std::string hint = nearest(name, names);
      throw UsageError(fmt::format("--phases: '{}' is no phase{}. There are: {}", name,
                                   hint.empty() ? "" : fmt::format(" (did you mean {}?)", hint),
                                   fmt::join(names, ",")));
    }
    if (std::find(chosen.begin(), chosen.end(), phase) != chosen.end()) {
      throw UsageError(fmt::format("--phases: '{}' is named twice", name));
    }
    chosen.push_back(phase);
  }
  std::sort(chosen.begin(), chosen.end(), [](const auto* a, const auto* b) { return a->position < b->position; });
  const bool tree_made =
      std::any_of(chosen.begin(), chosen.end(), [](const auto* phase) { return !phase->needs_tree; });
  for (const phases::Phase* phase : chosen) {
    if (phase->needs_tree && !tree_made) {
      throw UsageError(fmt::format("--phases: '{}' needs the files that create makes: add create", phase->name));
    }
  }
  return chosen;
}

SyncPolicy parse_sync(const std::string& name) {
  std::vector<std::string> names;
  for (const SyncPolicy policy : {SyncPolicy::each, SyncPolicy::phase, SyncPolicy::none}) {
    if (name == sync_policy_name(policy)) return policy;
    names.emplace_back(sync_policy_name(policy));
  }
  const std::string hint = nearest(name, names);
  throw UsageError(fmt::format("--sync '{}' is not known{}. There are: {}", name,
                               hint.empty() ? "" : fmt::format(" (did you mean {}?)", hint), fmt::join(names, ", ")));
}

phases::ContentSpec read_content(const std::string& name) {
  if (const auto content = phases::parse_content(name)) return *content;
  const bool parameter = name.find(':') != std::string::npos;
  const std::string hint = parameter ? "" : nearest(name, {"random", "letter-a", "zero", "compressible:50"});
  throw UsageError(fmt::format(
      "--content '{}' is not known{}. There are: random, letter-a, zero, and compressible:PCT with PCT from 1 to 99",
      name, hint.empty() ? "" : fmt::format(" (did you mean {}?)", hint)));
}

Environment parse_environment(const std::string& name) {
  if (name == "auto") return Environment::automatic;
  if (name == "host") return Environment::host;
  if (name == "uml") return Environment::uml;
  const std::string hint = nearest(name, {"host", "uml", "auto"});
  throw UsageError(fmt::format("--environment '{}' is not known{}. There are: host, uml, auto", name,
                               hint.empty() ? "" : fmt::format(" (did you mean {}?)", hint)));
}

/// What the kernel's loop driver takes (LOOP_CONFIGURE): a power of two up to the page size.
unsigned parse_sector_size(const std::string& text) {
  for (const unsigned size : {512U, 1024U, 2048U, 4096U}) {
    if (text == std::to_string(size)) return size;
  }
  throw UsageError(fmt::format("--sector-size '{}' is not possible. There are: 512, 1024, 2048, 4096 bytes", text));
}

std::vector<std::string> split_mkfs_options(const std::string& text) {
  try {
    return split_words(text);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--mkfs-options: {}", error.what()));
  }
}

/// An existing directory has no device, and all else has one.
void check_device_kind(const RunRequest& request, const Cell& cell) {
  const bool none = cell.device.kind == DeviceSpec::Kind::none;
  if (cell.driver->existing_directory != none) {
    throw UsageError(none ? fmt::format("DEVICE none is for the file system dir; {} needs a device", request.filesystem)
                          : fmt::format("dir has no device: say none in its place, as in mongo run dir none {} {} {}",
                                        request.mount_point, request.log, request.processes));
  }
  if (cell.driver->pool && !request.mount_options.empty()) {
    throw UsageError(
        fmt::format("{} is mounted by its own commands: say --mkfs-options '-O PROPERTY=VALUE' instead of "
                    "--mount-options",
                    request.filesystem));
  }
  if (none && !(request.mkfs_options.empty() && request.mount_options.empty())) {
    throw UsageError("dir formats and mounts nothing: --mkfs-options and --mount-options are for other file systems");
  }
}

/// What has to do with the conditions under which is measured.
void resolve_conditions(const RunRequest& request, Cell& cell) {
  if (request.cache) cell.cache = parse_cache(*request.cache, cell.phases);
  if (request.sync) cell.sync = parse_sync(*request.sync);
  if (request.content) cell.content = read_content(*request.content);
  cell.verify = request.verify;
  if (request.phase_timeout) {
    cell.phase_timeout_seconds = parse_count(*request.phase_timeout, "--phase-timeout", 1, max_phase_timeout_seconds);
  }
  const bool attached = cell.device.kind != DeviceSpec::Kind::block && cell.device.kind != DeviceSpec::Kind::none;
  if (request.sector_size) {
    cell.sector_size = parse_sector_size(*request.sector_size);
    if (!attached) {
      throw UsageError("--sector-size is for loop:SIZE, loop:PATH and ram:SIZE: a block device has its own");
    }
  }
  if (request.sparse && cell.device.kind != DeviceSpec::Kind::loop_new && cell.device.kind != DeviceSpec::Kind::ram) {
    throw UsageError("--sparse is for loop:SIZE and ram:SIZE: what exists already is taken as it is");
  }
  cell.sparse = request.sparse;
}

}  // namespace

const char* sync_policy_name(SyncPolicy policy) {
  switch (policy) {
    case SyncPolicy::each:
      return "each";
    case SyncPolicy::phase:
      return "phase";
    case SyncPolicy::none:
      return "none";
  }
  return "unknown";
}

int parse_count(const std::string& text, const std::string& what, int least, int most) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError(
        fmt::format("{} '{}': {}. It must be a whole decimal number from {} to {}", what, text, why, least, most));
  };
  if (text.empty()) refuse("it is empty");
  if (text.find_first_not_of("0123456789") != std::string::npos) refuse("it is not made of digits only");
  if (text.size() > 1 && text[0] == '0') refuse("it begins with 0");
  if (text.size() > 9) refuse("it is too large");
  const int value = std::stoi(text);
  if (value < least) refuse("it is too small");
  if (value > most) refuse("it is too large");
  return value;
}

Cell resolve(const RunRequest& request) {
  Cell cell;
  cell.driver = &find_driver(request.filesystem);
  if (request.device.empty())
    throw UsageError("DEVICE is empty. Name a block device, loop:SIZE, loop:PATH or ram:SIZE");
  cell.device = parse_device_spec(request.device);
  check_device_kind(request, cell);
  if (request.mount_point.empty()) throw UsageError("MOUNTPOINT is empty. Name a directory to mount on");
  cell.mount_point = request.mount_point;
  cell.log = request.log;
  cell.processes = parse_count(request.processes, "PROCESSES", 1, max_processes);
  cell.profile = changed_profile(find_profile(request.profile), request);
  cell.repetitions = request.repetitions ? parse_count(*request.repetitions, "--repetitions", 1, max_repetitions)
                                         : cell.profile.repetitions;
  cell.phases = choose_phases(request.phases);
  cell.mkfs_options = split_mkfs_options(request.mkfs_options);
  std::vector<std::string> mount_options = cell.driver->default_mount_options;
  if (!request.mount_options.empty()) {
    for (const std::string& option : split_commas(request.mount_options)) {
      if (option.empty()) {
        throw UsageError(
            fmt::format("--mount-options '{}': an option between two commas is empty", request.mount_options));
      }
      mount_options.push_back(option);
    }
  }
  cell.mount_options = fmt::format("{}", fmt::join(mount_options, ","));
  if (request.results.empty()) throw UsageError("--results is empty. Name a directory");
  cell.results = request.results;
  cell.destroy = request.destroy;
  cell.latency = request.latency;
  resolve_conditions(request, cell);
  if (request.environment) cell.environment = parse_environment(*request.environment);
  if (cell.driver->existing_directory && cell.environment == Environment::uml) {
    throw UsageError("--environment uml is not for dir: a directory of the host cannot be tried in a guest");
  }
  cell.request = request;
  return cell;
}

void check_options(const Cell& cell) {
  check_mkfs_options({cell.driver->name, cell.driver->mkfs_options, cell.driver->refused_mkfs_suboptions},
                     cell.mkfs_options);
  check_mount_options(cell.mount_options);
}

std::uint64_t working_set_bytes(const Cell& cell) {
  const bool copied = std::any_of(cell.phases.begin(), cell.phases.end(),
                                  [](const auto* p) { return std::string_view(p->name) == "copy"; });
  std::uint64_t most = 0;
  for (const phases::TreeParameters& tree : cell.profile.passes) {
    most = std::max(most, phases::plan_tree(tree).total_bytes);
  }
  return most * static_cast<std::uint64_t>(cell.processes) * static_cast<std::uint64_t>(cell.repetitions) *
         (copied ? 2 : 1);
}

std::string describe_pass(const Cell& cell, const phases::TreeParameters& tree) {
  const phases::TreePlan plan = phases::plan_tree(tree);
  const std::uint64_t trees = static_cast<std::uint64_t>(cell.processes) * static_cast<std::uint64_t>(cell.repetitions);
  std::vector<std::string> names;
  for (const phases::Phase* phase : cell.phases) names.emplace_back(phase->name);
  return fmt::format("median file size {} bytes: {} trees of {} files in {} directories, {}; phases {}",
                     tree.median_file_size, trees, plan.files, plan.directories,
                     format_rounded(ByteSize{plan.total_bytes}), fmt::join(names, ","));
}

}  // namespace mongo
