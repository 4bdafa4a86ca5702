// Btrfs on one device. Options: mkfs.btrfs(8), btrfs-progs 6.2.
#include "fsdrivers/driver.h"

namespace mongo::fsdrivers::driver_btrfs {

std::vector<FilesystemDriver> entries() {
  FilesystemDriver driver;
  driver.name = driver.kernel_type = "btrfs";
  driver.summary = "Btrfs on one device";
  driver.programs = {{"mkfs.btrfs", "btrfs-progs", "btrfs-progs"}};
  // -f: mkfs.btrfs refuses where it sees a signature; the guard has decided that already.
  driver.format_argv = [](const FormatRequest& request) {
    std::vector<std::string> argv{"mkfs.btrfs", "-f", "-q"};
    argv.insert(argv.end(), request.options.begin(), request.options.end());
    argv.insert(argv.end(), {"-L", std::string(label), "-U", request.uuid, request.device});
    return argv;
  };
  driver.mkfs_options = {"-b SIZE",     "--byte-count SIZE",
                         "--csum TYPE", "--checksum TYPE",
                         "-d PROFILE",  "--data PROFILE",
                         "-m PROFILE",  "--metadata PROFILE",
                         "-M",          "--mixed",
                         "-n SIZE",     "--nodesize SIZE",
                         "-s SIZE",     "--sectorsize SIZE",
                         "-K",          "--nodiscard",
                         "-O FEATURES", "--features FEATURES",
                         "-R FEATURES", "--runtime-features FEATURES"};
  driver.refused_mkfs_suboptions = {"list-all"};  // prints and makes nothing
  driver.version_argv = {"mkfs.btrfs", "--version"};
  return {driver};
}

}  // namespace mongo::fsdrivers::driver_btrfs
