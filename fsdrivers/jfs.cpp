// JFS. Options: jfs_mkfs(8), jfs_tune(8), jfsutils 1.1.15.
#include "fsdrivers/driver.h"

namespace mongo::fsdrivers::driver_jfs {

std::vector<FilesystemDriver> entries() {
  FilesystemDriver driver;
  driver.name = driver.kernel_type = "jfs";
  driver.summary = "JFS";
  driver.programs = {{"mkfs.jfs", "jfsutils", "jfsutils"}, {"jfs_tune", "jfsutils", "jfsutils"}};
  // -q: without it mkfs.jfs asks. It does not look for other file systems and never discards.
  driver.format_argv = [](const FormatRequest& request) {
    std::vector<std::string> argv{"mkfs.jfs", "-q"};
    argv.insert(argv.end(), request.options.begin(), request.options.end());
    argv.insert(argv.end(), {"-L", std::string(label), request.device});
    return argv;
  };
  // mkfs.jfs makes up a UUID of its own.
  driver.after_format = [](const FormatRequest& request) {
    return std::vector<std::vector<std::string>>{
        {"jfs_tune", "-L", std::string(label), "-U", request.uuid, request.device}};
  };
  // Not -j and -J: the journal on another device, or a journal instead of a file system.
  driver.mkfs_options = {"-c", "-O", "-s MEGABYTES"};
  driver.version_argv = {"mkfs.jfs", "-V"};
  return {driver};
}

}  // namespace mongo::fsdrivers::driver_jfs
