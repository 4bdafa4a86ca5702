// ReiserFS 3.6. Options: mkreiserfs(8), reiserfsprogs 3.6.27. The kernel dropped it in 6.13.
#include "fsdrivers/driver.h"

namespace mongo::fsdrivers::driver_reiserfs {

std::vector<FilesystemDriver> entries() {
  FilesystemDriver driver;
  driver.name = driver.kernel_type = "reiserfs";
  driver.summary = "ReiserFS 3.6, on kernels before 6.13";
  driver.programs = {{"mkreiserfs", "reiserfsprogs", "reiserfs-utils"}};
  // -q: without it mkreiserfs asks, and with no one to answer exits 1. -f -f: it also asks on a whole disk.
  driver.format_argv = [](const FormatRequest& request) {
    std::vector<std::string> argv{"mkreiserfs", "-q", "-f", "-f"};
    argv.insert(argv.end(), request.options.begin(), request.options.end());
    argv.insert(argv.end(), {"-l", std::string(label), "-u", request.uuid, request.device});
    return argv;
  };
  // Not --format: 3.5 has neither label nor UUID, by which this tool knows its own work.
  // An unknown hash is only warned about, and r5 taken.
  driver.mkfs_options = {"-b SIZE",   "--block-size SIZE",     "-h tea|rupasov|r5", "--hash tea|rupasov|r5",
                         "-s BLOCKS", "--journal-size BLOCKS", "-t BLOCKS",         "--transaction-max-size BLOCKS"};
  driver.version_argv = {"mkreiserfs", "-V"};
  return {driver};
}

}  // namespace mongo::fsdrivers::driver_reiserfs
