#include "harness/run/doctor.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fstream>

#include "fsdrivers/catalogue.h"
#include "harness/core/errors.h"
#include "harness/device/journal.h"
#include "harness/run/availability.h"

namespace mongo {
namespace {

std::string first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

Finding writable_folder(const std::string& what, const std::string& folder, const std::string& advice) {
  if (access(folder.c_str(), W_OK | X_OK) == 0) return {what, true, folder + " can be written"};
  if (errno != ENOENT) return {what, false, fmt::format("{}: {}. {}", folder, errno_text(errno), advice)};
  const std::size_t slash = folder.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : slash == 0 ? "/" : folder.substr(0, slash);
  if (access(parent.c_str(), W_OK | X_OK) == 0) return {what, true, folder + " can be made"};
  return {what, false, fmt::format("{} cannot be made in {}: {}. {}", folder, parent, errno_text(errno), advice)};
}

Finding root() {
  if (geteuid() == 0) return {"root", true, "yes"};
  return {"root", false, "formatting and mounting need root. Run as root, e.g. with sudo"};
}

Finding loop_devices() {
  if (access("/dev/loop-control", R_OK | W_OK) == 0)
    return {"loop devices", true, "loop:SIZE, loop:PATH and ram:SIZE can be used"};
  const int error = errno;
  return {"loop devices", false,
          fmt::format("/dev/loop-control: {}. {}", errno_text(error), missing_node_advice("loop", error))};
}

Finding drop_caches() {
  if (access("/proc/sys/vm/drop_caches", W_OK) == 0) return {"drop_caches", true, "caches can be dropped"};
  return {"drop_caches", false,
          fmt::format("/proc/sys/vm/drop_caches: {}. Run as root; in a container it may stay read-only",
                      errno_text(errno))};
}

Finding cgroups() {
  for (const char* folder : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    if (access(fmt::format("{}/cgroup.controllers", folder).c_str(), R_OK) == 0) {
      return {"cgroup", true, fmt::format("version 2 on {}", folder)};
    }
  }
  return {"cgroup", false, "no cgroup version 2 is mounted"};
}

Finding clock() {
  timespec resolution{};
  clock_getres(CLOCK_MONOTONIC, &resolution);
  const std::string source = first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  const long nanoseconds = resolution.tv_sec * 1'000'000'000 + resolution.tv_nsec;
  return {"clock", nanoseconds <= 1000,
          fmt::format("monotonic, resolution {} ns, source {}", nanoseconds, source.empty() ? "unknown" : source)};
}

}  // namespace

bool Diagnosis::can_run() const {
  return std::any_of(filesystems.begin(), filesystems.end(), [](const Finding& finding) {
    const fsdrivers::FilesystemDriver* driver = fsdrivers::find(finding.what);
    return finding.good && (driver == nullptr || !driver->existing_directory);
  });
}

Diagnosis diagnose(const std::string& results_folder) {
  Diagnosis diagnosis;
  for (const fsdrivers::FilesystemDriver& driver : fsdrivers::catalogue()) {
    // No module is loaded: that would be a change. A run does it.
    Cell cell;
    cell.driver = &driver;
    const ChosenEnvironment chosen = choose_environment(cell, nullptr);
    const bool in_guest = chosen.environment == Environment::uml;
    const std::string can = in_guest ? "can be run in a guest (--environment uml)" : "can be run here";
    diagnosis.filesystems.push_back({driver.name, !chosen.why_not.has_value(),
                                     chosen.why_not.value_or(why_no_root(driver) ? can + ", as root" : can)});
  }
  diagnosis.host = {
      root(),
      loop_devices(),
      writable_folder("results", results_folder, "Name another folder with --results, or make it writable"),
      writable_folder("state", state_folder(), "Only root may write there; dir does without it"),
      drop_caches(),
      cgroups(),
      clock()};
  return diagnosis;
}

}  // namespace mongo
