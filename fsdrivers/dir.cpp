// An existing directory: nothing is formatted or mounted. For network file systems, tmpfs, overlay, and for people
// without root.
#include "fsdrivers/driver.h"

namespace mongo::fsdrivers::driver_dir {

std::vector<FilesystemDriver> entries() {
  FilesystemDriver driver;
  driver.name = "dir";
  driver.summary = "an existing directory, whatever it is on; DEVICE is none, MOUNTPOINT the directory; needs no root";
  driver.existing_directory = true;
  return {driver};
}

}  // namespace mongo::fsdrivers::driver_dir
