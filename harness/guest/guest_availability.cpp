#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "harness/core/errors.h"
#include "harness/guest/guest_modules.h"
#include "harness/guest/guest_mounts.h"
#include "harness/guest/uml.h"
#include "harness/process/runner.h"

namespace mongo {
namespace {

constexpr const char* program = "linux.uml";
constexpr const char* modules_folder = "/usr/lib/uml/modules/";

#if defined(__x86_64__) || defined(__i386__)
constexpr bool right_architecture = true;
#else
constexpr bool right_architecture = false;
#endif

CommandResult ask(const std::string& option) {
  RealRunner runner;
  return runner.run({{program, option}, std::chrono::seconds(10)});
}

/// CONFIG_F2FS_FS=y in the kernel's own configuration: for a linux.uml that came without a folder of modules.
bool configured(std::string filesystem) {
  for (char& c : filesystem) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::istringstream config(ask("--showconfig").out);
  for (std::string line; std::getline(config, line);) {
    if (line == "CONFIG_" + filesystem + "_FS=y") return true;
  }
  return false;
}

}  // namespace

std::string guest_version() {
  if (find_program(program).empty()) return "";
  const CommandResult result = ask("--version");
  return result.ok() ? result.out.substr(0, result.out.find_first_of(" \n")) : "";
}

std::optional<std::string> why_no_guest() {
  if (!right_architecture) return "User-mode Linux runs on x86 only";
  if (find_program(program).empty()) {
    return not_found_text(program) +
           ". It is User-mode Linux; on Debian: apt-get install user-mode-linux. Most other distributions have no such "
           "package; there a Linux source tree gives one: make ARCH=um defconfig linux, with the file systems that are "
           "wanted built in, then copy the file linux to /usr/local/sbin/linux.uml";
  }
  try {
    const CommandResult result = ask("--version");
    if (!result.ok()) {
      return fmt::format("{} --version fails: {}", find_program(program),
                         result.signal != 0 ? fmt::format("signal {}", result.signal) : useful_line(result));
    }
  } catch (const RunError& error) {
    return error.what();
  }
#if defined(__SANITIZE_ADDRESS__)
  return "this program is built with the address sanitizer, which cannot run as a guest's init";
#endif
  if (geteuid() != 0) return "a guest needs root";
  if (access("/proc/self/ns/pid", F_OK) != 0) return "a guest needs a kernel with PID namespaces (CONFIG_PID_NS)";
  int scope = 0;
  if (std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope && scope > 2) {
    return fmt::format("linux.uml traces its processes, which kernel.yama.ptrace_scope={} forbids until a restart",
                       scope);
  }
  // linux.uml maps its memory from a file; a file system of its own is never noexec or too small, as /dev/shm may be.
  if (!guest::memory_folder(16)) {
    return fmt::format("no file system in memory can be made for the guest: {}", errno_text(errno));
  }
  return std::nullopt;
}

namespace guest {

std::vector<std::string> module_files(const std::string& kernel_type) {
  return GuestModules(modules_folder + guest_version()).files_for(kernel_type);
}

}  // namespace guest

bool guest_supports(const std::string& kernel_type) {
  const std::string version = guest_version();
  if (version.empty()) return false;
  const GuestModules modules(modules_folder + version);
  if (!modules.known()) return configured(kernel_type);
  return modules.built_in(kernel_type) || !modules.files_for(kernel_type).empty();
}

}  // namespace mongo
