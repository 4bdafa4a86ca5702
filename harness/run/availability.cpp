#include "harness/run/availability.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "harness/core/errors.h"
#include "harness/device/zfs.h"
#include "harness/guest/uml.h"

namespace mongo {
namespace {

/// /proc/filesystems: "nodev<TAB>name" or "<TAB>name" a line. Source: proc(5).
bool kernel_lists(const std::string& type, const std::string& root) {
  std::ifstream list(root + "proc/filesystems");
  std::string line;
  while (std::getline(list, line)) {
    if (line.substr(line.find('\t') + 1) == type) return true;
  }
  return false;
}

std::optional<std::string> why_no_zfs(ProcessRunner* runner) {
  RealRunner own;
  const ZfsImplementation found = find_zfs(runner != nullptr ? *runner : own, runner != nullptr);
  if (found.kind != ZfsImplementation::Kind::none) return std::nullopt;
  return found.why_not;
}

}  // namespace

std::optional<std::string> why_unavailable(const fsdrivers::FilesystemDriver& driver, ProcessRunner* runner,
                                           const std::string& root) {
  if (driver.existing_directory) return std::nullopt;
  if (driver.pool) return why_no_zfs(runner);
  bool in_kernel = kernel_lists(driver.kernel_type, root);
  if (!in_kernel && runner != nullptr && !find_program("modprobe").empty()) {
    try {
      runner->run({{"modprobe", "-q", driver.kernel_type}, std::chrono::seconds(30)});
    } catch (const RunError&) {
      // Without modprobe the kernel has what it has.
    }
    in_kernel = kernel_lists(driver.kernel_type, root);
  }
  if (!in_kernel) {
    return fmt::format(
        "the running kernel cannot mount {}: it is not in /proc/filesystems and no module of that name could "
        "be loaded. Boot a kernel that has it",
        driver.kernel_type);
  }
  return why_no_programs(driver);
}

std::optional<std::string> why_no_programs(const fsdrivers::FilesystemDriver& driver) {
  for (const fsdrivers::Program& program : driver.programs) {
    if (!find_program(program.name).empty()) continue;
    return fmt::format("{}. Install the package {} (Debian, Ubuntu) or {} (Fedora)", not_found_text(program.name),
                       program.debian_package, program.fedora_package);
  }
  return std::nullopt;
}

namespace {

std::optional<std::string> why_not_in_guest(const fsdrivers::FilesystemDriver& driver) {
  if (driver.pool) return fmt::format("{} is not in the kernel of a User-mode Linux guest", driver.name);
  if (const auto why = why_no_programs(driver)) return why;
  if (const auto why = why_no_guest()) return why;
  if (guest_supports(driver.kernel_type)) return std::nullopt;
  return fmt::format("the guest's kernel (Linux {}) has no {}", guest_version(), driver.kernel_type);
}

}  // namespace

std::optional<std::string> why_no_root(const fsdrivers::FilesystemDriver& driver) {
  if (driver.existing_directory || geteuid() == 0) return std::nullopt;
  return "formatting and mounting need root. Run the same command as root, e.g. with sudo";
}

ChosenEnvironment choose_environment(const Cell& cell, ProcessRunner* runner) {
  const fsdrivers::FilesystemDriver& driver = *cell.driver;
  if (cell.environment == Environment::uml) return {Environment::uml, why_not_in_guest(driver)};
  const auto why_not_here = why_unavailable(driver, runner);
  if (!why_not_here) return {Environment::host, std::nullopt};
  const auto why_not_there = why_not_in_guest(driver);
  if (cell.environment == Environment::host) {
    if (why_not_there) return {Environment::host, why_not_here};
    return {Environment::host, *why_not_here + ". Or leave out --environment host: a guest can run it"};
  }
  if (!why_not_there) return {Environment::uml, std::nullopt};
  return {Environment::host,
          fmt::format("{}. Nor can it run in a guest (--environment uml): {}", *why_not_here, *why_not_there)};
}

}  // namespace mongo
