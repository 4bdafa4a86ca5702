#include "harness/device/loop_facts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>

#include "harness/core/errors.h"
#include "harness/device/mount_table.h"
#include "harness/device/system_files.h"

namespace mongo {

std::string filesystem_of(dev_t device) {
  try {
    for (const MountEntry& entry : parse_mountinfo(devio::read_file("/proc/self/mountinfo").text)) {
      if (entry.device == device) return entry.type;
    }
  } catch (const std::invalid_argument&) {
    // Not known, then.
  }
  return "";
}

void describe_foreign_loop(DeviceRecord& device) {
  const std::string dio = devio::trimmed(devio::read_file("/sys/dev/block/" + device.major_minor + "/loop/dio").text);
  if (!dio.empty()) device.direct_io = dio == "1";
  struct stat info {};
  if (device.backing.empty() || stat(device.backing.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return;
  device.preallocated = info.st_blocks >= info.st_size / 512;
  device.backing_filesystem = filesystem_of(info.st_dev);
}

void drop_file_cache(const std::string& path) {
  const devio::FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOATIME));
  int error = file.valid() && fdatasync(file.get()) == 0 ? 0 : errno;
  if (error == 0) error = posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  if (error != 0) throw RunError("drop caches", fmt::format("{}: {}", devio::printable(path), errno_text(error)));
}

}  // namespace mongo
