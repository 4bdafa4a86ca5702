#include "harness/measure/environment.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <locale>
#include <optional>
#include <sstream>

#include "harness/core/byte_size.h"
#include "harness/core/quote.h"
#include "harness/measure/clock.h"
#include "harness/measure/text_file.h"
#include "harness/measure/virtualisation.h"

namespace mongo {
namespace {

namespace fs = std::filesystem;
using measure::line_of;
using measure::read_text;

constexpr double much_load = 0.5;

std::vector<std::string> lines_of(const std::string& path) {
  std::istringstream text(read_text(path).value_or(""));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

/// The value of the first line "key : value".
std::string value_of(const std::vector<std::string>& lines, const std::string& key) {
  for (const std::string& line : lines) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && trimmed(line.substr(0, colon)) == key) return trimmed(line.substr(colon + 1));
  }
  return {};
}

std::optional<std::uint64_t> number(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

/// A value of os-release(5) as a shell would read it.
std::string unquoted(const std::string& text) {
  std::string value;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (quote != 0 && c == quote) {
      quote = 0;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      value += text[++i];
    } else {
      value += c;
    }
  }
  return value;
}

std::string distribution(const std::string& root) {
  for (const char* file : {"/etc/os-release", "/usr/lib/os-release"}) {
    std::string pretty, name, version;
    for (const std::string& line : lines_of(root + file)) {
      const std::size_t equals = line.find('=');
      if (equals == std::string::npos) continue;
      const std::string key = trimmed(line.substr(0, equals)), value = unquoted(trimmed(line.substr(equals + 1)));
      if (key == "PRETTY_NAME") pretty = value;
      if (key == "NAME") name = value;
      if (key == "VERSION_ID") version = value;
    }
    if (!pretty.empty()) return printable(pretty);
    if (!name.empty()) return printable(trimmed(name + " " + version));
  }
  return {};
}

std::string cpu_model(const std::string& root) {
  const std::vector<std::string> lines = lines_of(root + "/proc/cpuinfo");
  // x86 and old ARM; MIPS; POWER; RISC-V
  for (const char* key : {"model name", "cpu model", "cpu", "uarch"}) {
    if (const std::string model = value_of(lines, key); !model.empty()) return printable(model);
  }
  const std::string implementer = value_of(lines, "CPU implementer"), part = value_of(lines, "CPU part");
  return implementer.empty() ? "" : printable(fmt::format("ARM implementer {} part {}", implementer, part));
}

std::optional<std::uint64_t> usable_cpus() {
  // More CPUs than the set has room for are EINVAL.
  for (int room = 1024; room <= 1 << 20; room *= 2) {
    cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(room));
    if (set == nullptr) return std::nullopt;
    const std::size_t size = CPU_ALLOC_SIZE(static_cast<std::size_t>(room));
    const bool known = sched_getaffinity(0, size, set) == 0;
    const int count = known ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (known) return static_cast<std::uint64_t>(count);
  }
  return std::nullopt;
}

/// The smallest limit of a control group and those above it. In a container the path may be that of the host: then only
/// the topmost folder is there. Without a limit the files say "max" (v2) or a huge number (v1).
std::optional<std::uint64_t> smallest_limit(const std::string& hierarchy, std::string group, const char* file) {
  std::optional<std::uint64_t> smallest;
  while (true) {
    const auto limit = number(line_of(hierarchy + group + "/" + file));
    if (limit && *limit > 0 && (!smallest || *limit < *smallest)) smallest = limit;
    if (group.empty()) return smallest;
    const std::size_t slash = group.find_last_of('/');
    group.resize(slash == std::string::npos ? 0 : slash);
  }
}

std::optional<std::uint64_t> memory(const std::string& root) {
  std::optional<std::uint64_t> least = number(value_of(lines_of(root + "/proc/meminfo"), "MemTotal"));
  if (least) *least *= 1024;
  const auto limit = [&](const std::optional<std::uint64_t>& bytes) {
    if (bytes && least && *bytes < *least) least = bytes;
  };
  // "0::/a/b" of v2, "9:memory:/a/b" of v1
  for (const std::string& line : lines_of(root + "/proc/self/cgroup")) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") limit(smallest_limit(root + "/sys/fs/cgroup", group, "memory.max"));
    if (controllers.find(",memory,") != std::string::npos) {
      limit(smallest_limit(root + "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

/// Sorted by number; empty when there is no such folder.
std::vector<std::string> cpu_folders(const std::string& root) {
  std::vector<std::pair<std::uint64_t, std::string>> found;
  std::error_code error;
  for (fs::directory_iterator entry(root + "/sys/devices/system/cpu", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with("cpu")) continue;
    if (const auto index = number(name.substr(3))) found.emplace_back(*index, entry->path().string());
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> folders;
  for (const auto& [index, path] : found) folders.push_back(path);
  return folders;
}

std::string governor(const std::string& root) {
  std::vector<std::string> names;
  for (const std::string& cpu : cpu_folders(root)) {
    std::string name = line_of(cpu + "/cpufreq/scaling_governor");
    const std::string driver = line_of(cpu + "/cpufreq/scaling_driver");
    // In their active modes these drivers have governors of the usual names and other meanings.
    if (name == "powersave" && (driver == "intel_pstate" || driver == "amd-pstate-epp")) {
      const std::string preference = line_of(cpu + "/cpufreq/energy_performance_preference");
      name += fmt::format(" ({}{}{})", driver, preference.empty() ? "" : ", ", preference);
    }
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return printable(fmt::format("{}", fmt::join(names, ",")));
}

std::optional<double> load(const std::string& root) {
  std::istringstream text(line_of(root + "/proc/loadavg"));
  text.imbue(std::locale::classic());
  double value = 0;
  if (!(text >> value) || value < 0) return std::nullopt;
  return value;
}

std::vector<std::string> mitigations(const std::string& root) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator entry(root + "/sys/devices/system/cpu/vulnerabilities", error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string text = line_of(entry->path().string());
    if (!text.starts_with("Mitigation")) continue;
    found.push_back(printable(fmt::format("{}: {}", entry->path().filename().string(), text)));
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Whether the CPUs, or some of them, stay slow on purpose. With intel_pstate and amd-pstate-epp "powersave" is what
/// other drivers call ondemand, and the preference decides. Source: Documentation/admin-guide/pm/intel_pstate.rst,
/// amd-pstate.rst.
bool saves_power(const std::string& governors) {
  for (std::size_t at = governors.find("powersave"); at != std::string::npos;
       at = governors.find("powersave", at + 1)) {
    const std::string rest = governors.substr(at + std::string("powersave").size());
    if (!rest.starts_with(" (")) return true;
    const std::string driver = rest.substr(0, rest.find(')'));
    if (driver.ends_with(", power") || driver.ends_with(", balance_power")) return true;
  }
  return false;
}

}  // namespace

void describe_environment(HostRecord& host, const std::string& root) {
  host.distribution = distribution(root);
  host.cpu_model = cpu_model(root);
  host.cpus = usable_cpus();
  host.memory_bytes = memory(root);
  host.virtualisation = detect_virtualisation(root);
  host.clock_source = printable(line_of(root + "/sys/devices/system/clocksource/clocksource0/current_clocksource"));
  host.clock_resolution_ns = measure_clock_resolution();
  host.governor = governor(root);
  host.load = load(root);
  host.mitigations = mitigations(root);
}

std::vector<std::string> host_warnings(const HostRecord& host, std::uint64_t working_set_bytes) {
  std::vector<std::string> warnings;
  if (host.load && *host.load > much_load) {
    warnings.push_back(
        fmt::format("load of {:.1f} before the start: other programs take part of the times. End them, or wait until "
                    "the load is below {}, and run again",
                    *host.load, much_load));
  }
  if (saves_power(host.governor)) {
    warnings.push_back(
        fmt::format("the CPUs save power (governor {}): times are longer than they need be. Set the governor "
                    "performance (cpupower frequency-set -g performance)",
                    host.governor));
  }
  if (working_set_bytes > 0 && host.memory_bytes && working_set_bytes < *host.memory_bytes / 2) {
    warnings.push_back(fmt::format(
        "the files ({}) fit in memory ({}): read phases with warm caches measure memory, not the device. Empty the "
        "caches before the phases (--cache drop), or have more processes or repetitions until the files take more than "
        "half of the "
        "memory",
        format_rounded({working_set_bytes}), format_rounded({*host.memory_bytes})));
  }
  return warnings;
}

}  // namespace mongo
