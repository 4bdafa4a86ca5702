// ZFS: known by name.
#include "fsdrivers/driver.h"

namespace mongo::fsdrivers::driver_zfs {

std::vector<FilesystemDriver> entries() {
  FilesystemDriver driver;
  driver.name = driver.kernel_type = "zfs";
  driver.summary = "ZFS; not available in this version";
  driver.unavailable = "this version has no support for storage pools yet";
  return {driver};
}

}  // namespace mongo::fsdrivers::driver_zfs
