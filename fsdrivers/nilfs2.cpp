// NILFS2. Options: mkfs.nilfs2(8), nilfs-tune(8), nilfs-utils 2.2.
#include "fsdrivers/driver.h"

namespace mongo::fsdrivers::driver_nilfs2 {

std::vector<FilesystemDriver> entries() {
  FilesystemDriver driver;
  driver.name = driver.kernel_type = "nilfs2";
  driver.summary = "NILFS2, a log-structured file system";
  driver.programs = {{"mkfs.nilfs2", "nilfs-tools", "nilfs-utils"}, {"nilfs-tune", "nilfs-tools", "nilfs-utils"}};
  // -f: mkfs.nilfs2 refuses where it sees a file system; the guard has decided that already.
  //
  // What was deleted or overwritten stays on the device until nilfs_cleanerd has cleaned the segments. That daemon is
  // started by mount.nilfs2(8); the tool mounts without helpers, so it never runs, and no run differs from another by
  // how much was cleaned meanwhile. The device must have room for everything that a run writes.
  driver.format_argv = [](const FormatRequest& request) {
    std::vector<std::string> argv{"mkfs.nilfs2", "-f", "-q"};
    argv.insert(argv.end(), request.options.begin(), request.options.end());
    argv.insert(argv.end(), {"-L", std::string(label), request.device});
    return argv;
  };
  // mkfs.nilfs2 makes up a UUID of its own.
  driver.after_format = [](const FormatRequest& request) {
    return std::vector<std::vector<std::string>>{
        {"nilfs-tune", "-L", std::string(label), "-U", request.uuid, request.device}};
  };
  driver.mkfs_options = {"-b SIZE", "-B BLOCKS", "-c", "-K", "-m PERCENT", "-O FEATURES"};
  driver.own_files = {".nilfs"};  // for the cleaner
  driver.version_argv = {"mkfs.nilfs2", "-V"};
  return {driver};
}

}  // namespace mongo::fsdrivers::driver_nilfs2
