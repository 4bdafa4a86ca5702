#include "harness/device/zfs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "harness/core/errors.h"
#include "harness/device/system_files.h"

namespace mongo {
namespace {

using std::chrono::seconds;

constexpr const char* packages =
    "Install the package zfs-fuse (Debian, Ubuntu, Fedora), or OpenZFS with its kernel module: zfsutils-linux and "
    "zfs-dkms (Debian), zfsutils-linux (Ubuntu), zfs (Fedora, from the repository of OpenZFS)";

/// What it says when it ends well, else nothing.
std::optional<std::string> ask(ProcessRunner& runner, const std::vector<std::string>& argv) {
  try {
    const CommandResult result = runner.run({argv, seconds(30)});
    if (result.ok()) return result.out;
  } catch (const RunError&) {
    // Not there.
  }
  return std::nullopt;
}

bool has_module(const std::string& root) {
  // Without /dev/zfs, zpool would load the module by itself.
  return access((root + "sys/module/zfs").c_str(), F_OK) == 0 && access((root + "dev/zfs").c_str(), R_OK | W_OK) == 0;
}

std::string joined_lines(const std::string& text) {
  std::string line;
  for (const std::string& each : devio::lines_of(text)) line += (line.empty() ? "" : ", ") + devio::trimmed(each);
  return line;
}

/// zfs-fuse itself cannot be asked.
std::string package_version(ProcessRunner& runner) {
  for (const std::vector<std::string>& argv :
       {std::vector<std::string>{"dpkg-query", "-W", "-f", "${Version}", "zfs-fuse"},
        std::vector<std::string>{"rpm", "-q", "--qf", "%{VERSION}-%{RELEASE}", "zfs-fuse"}}) {
    if (find_program(argv.front()).empty()) continue;
    if (const auto text = ask(runner, argv); text && !text->empty()) return "zfs-fuse " + devio::trimmed(*text);
  }
  return "zfs-fuse";
}

}  // namespace

ZfsImplementation find_zfs(ProcessRunner& runner, bool load_module, const std::string& root) {
  ZfsImplementation found;
  for (const char* program : {"zpool", "zfs"}) {
    if (!find_program(program).empty()) continue;
    found.why_not = fmt::format("{}. {}", not_found_text(program), packages);
    return found;
  }
  // With the programs of zfs-fuse a module would be of no use.
  const bool has_daemon = !find_program("zfs-fuse").empty();
  if (load_module && !has_daemon && !has_module(root)) ask(runner, {"modprobe", "-q", "zfs"});
  if (has_module(root) && ask(runner, {"zpool", "list", "-H", "-o", "name"})) {
    found.kind = ZfsImplementation::Kind::openzfs;
    found.version = joined_lines(ask(runner, {"zfs", "version"}).value_or(""));
    if (found.version.empty()) {
      found.version = "OpenZFS " + devio::trimmed(devio::read_file(root + "sys/module/zfs/version").text);
    }
    return found;
  }
  if (!has_daemon) {
    found.why_not = fmt::format("the kernel has no ZFS (/dev/zfs does not answer), and {}. {}",
                                not_found_text("zfs-fuse"), packages);
  } else if (access((root + "dev/fuse").c_str(), R_OK | W_OK) != 0) {
    const int error = errno;
    found.why_not =
        fmt::format("zfs-fuse needs /dev/fuse: {}. {}", errno_text(error), missing_node_advice("fuse", error));
  } else {
    found.kind = ZfsImplementation::Kind::zfs_fuse;
    found.version = package_version(runner);
  }
  return found;
}

}  // namespace mongo
