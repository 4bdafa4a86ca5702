#include "harness/device/kernel_view.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "harness/device/blank.h"
#include "harness/device/signatures.h"
#include "harness/device/system_files.h"

namespace mongo {

namespace {

class RealKernelView : public KernelView {
 public:
  std::string real_path(const std::string& path) const override {
    const devio::FileText resolved = devio::real_path(path);
    return resolved.error == 0 ? resolved.text : path;
  }

  NodeStat stat(const std::string& path) const override {
    struct statx info {};
    if (statx(AT_FDCWD, path.c_str(), AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &info) != 0) {
      return {.error = errno};
    }
    return {.error = 0,
            .mode = info.stx_mode,
            .device = makedev(info.stx_dev_major, info.stx_dev_minor),
            .inode = info.stx_ino,
            .rdev = makedev(info.stx_rdev_major, info.stx_rdev_minor)};
  }

  OpenResult open_device(const std::string& path, int flags) const override {
    devio::FileDescriptor node(open(path.c_str(), flags | O_CLOEXEC));
    if (!node.valid()) return {.error = errno};
    struct stat info {};
    if (fstat(node.get(), &info) != 0) return {.error = errno};
    if (!S_ISBLK(info.st_mode)) return {.error = ENOTBLK};
    int read_only = 0;
    std::uint64_t size = 0;
    if (ioctl(node.get(), BLKROGET, &read_only) != 0) return {.error = errno};
    if (ioctl(node.get(), BLKGETSIZE64, &size) != 0) return {.error = errno};
    return {.error = 0, .rdev = info.st_rdev, .read_only = read_only != 0, .size_bytes = size};
  }

  LoopBacking loop_backing(const std::string& path) const override {
    devio::FileDescriptor node(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!node.valid()) return {.error = errno};
    struct stat info {};
    if (fstat(node.get(), &info) != 0) return {.error = errno};
    if (!S_ISBLK(info.st_mode)) return {.error = ENOTBLK};
    loop_info64 loop{};
    if (ioctl(node.get(), LOOP_GET_STATUS64, &loop) != 0) return {.error = errno};
    // Kernels have filled lo_rdevice of a regular file with 0 or with the number of its file system.
    const bool over_block = loop.lo_rdevice != 0 && loop.lo_rdevice != loop.lo_device;
    return {.error = 0, .device = loop.lo_device, .inode = loop.lo_inode, .rdev = over_block ? loop.lo_rdevice : 0};
  }

  bool may_look_at_processes() const override {
    for (const std::string& line : devio::lines_of(devio::read_file("/proc/self/status").text)) {
      if (!line.starts_with("CapEff:")) continue;
      return ((std::strtoull(line.c_str() + 7, nullptr, 16) >> CAP_SYS_PTRACE) & 1) != 0;
    }
    return false;
  }

  std::vector<Signature> signatures(const std::string& path) const override { return read_signatures(path); }

  std::optional<std::uint64_t> first_data(const std::string& path) const override { return mongo::first_data(path); }
};

}  // namespace

std::shared_ptr<const KernelView> real_kernel_view() { return std::make_shared<RealKernelView>(); }

}  // namespace mongo
