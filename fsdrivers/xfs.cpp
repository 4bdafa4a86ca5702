// XFS. Options: mkfs.xfs(8), xfsprogs 6.1.
#include "fsdrivers/driver.h"

namespace mongo::fsdrivers::driver_xfs {

std::vector<FilesystemDriver> entries() {
  FilesystemDriver driver;
  driver.name = driver.kernel_type = "xfs";
  driver.summary = "XFS";
  driver.programs = {{"mkfs.xfs", "xfsprogs", "xfsprogs"}};
  // -f: mkfs.xfs refuses where it sees a signature; the guard has decided that already.
  driver.format_argv = [](const FormatRequest& request) {
    std::vector<std::string> argv{"mkfs.xfs", "-f", "-q"};
    argv.insert(argv.end(), request.options.begin(), request.options.end());
    argv.insert(argv.end(), {"-L", std::string(label), "-m", "uuid=" + request.uuid, request.device});
    return argv;
  };
  driver.mkfs_options = {"-b OPTIONS", "-m OPTIONS", "-d OPTIONS", "-i OPTIONS", "-l OPTIONS",
                         "-n OPTIONS", "-r OPTIONS", "-s OPTIONS", "-K"};
  // name, file: another device or a file in place of the device. The UUID is the tool's own.
  driver.refused_mkfs_suboptions = {"name", "file", "logdev", "rtdev", "uuid"};
  driver.version_argv = {"mkfs.xfs", "-V"};
  return {driver};
}

}  // namespace mongo::fsdrivers::driver_xfs
