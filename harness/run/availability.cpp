#include "harness/run/availability.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "harness/core/errors.h"

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

}  // namespace

std::optional<std::string> why_unavailable(const fsdrivers::FilesystemDriver& driver, ProcessRunner* runner,
                                           const std::string& root) {
  if (!driver.unavailable.empty()) return fmt::format("{} cannot be run: {}", driver.name, driver.unavailable);
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
  for (const fsdrivers::Program& program : driver.programs) {
    if (!find_program(program.name).empty()) continue;
    return fmt::format("the program {} is missing. Install the package {} (Debian, Ubuntu) or {} (Fedora)",
                       program.name, program.debian_package, program.fedora_package);
  }
  return std::nullopt;
}

}  // namespace mongo
