#include "harness/device/loop.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "harness/core/errors.h"
#include "harness/device/loop_backing.h"
#include "harness/device/loop_facts.h"
#include "harness/device/sys_block.h"
#include "harness/device/system_files.h"

namespace mongo {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
constexpr std::chrono::seconds patience(10);

[[noreturn]] void fail(const std::string& what, const std::string& advice) {
  throw RunError("attach", what + ". " + advice);
}

std::string sys_folder(const std::string& node) { return "/sys/block/" + node.substr(node.find_last_of('/') + 1); }

// What the kernel names as the file behind the device; empty when there is none.
std::string attached_file(const std::string& node) {
  return devio::trimmed(devio::read_file(sys_folder(node) + "/loop/backing_file").text);
}

// Opens /dev/loopN and makes sure that it is loop device N: the name is only a name.
devio::FileDescriptor open_node(const std::string& node, int number) {
  // A udev that manages /dev by itself needs a moment for a number that was never used before.
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(2);
  devio::FileDescriptor device(open(node.c_str(), O_RDWR | O_CLOEXEC));
  while (!device.valid() && errno == ENOENT && Clock::now() < deadline) {
    std::this_thread::sleep_for(milliseconds(20));
    device = devio::FileDescriptor(open(node.c_str(), O_RDWR | O_CLOEXEC));
  }
  if (!device.valid()) {
    const int error = errno;
    fail(fmt::format("{} cannot be opened: {}", node, errno_text(error)),
         error == ENOENT
             ? fmt::format("Nobody makes nodes in this /dev (a container without udev?). Make it: mknod {} b 7 {}",
                           node, number)
             : "Run as root; in a container, allow loop devices (major number 7).");
  }
  struct stat info {};
  const std::string number_in_sys = devio::trimmed(devio::read_file(sys_folder(node) + "/dev").text);
  if (fstat(device.get(), &info) != 0 || !S_ISBLK(info.st_mode) || major_minor_text(info.st_rdev) != number_in_sys) {
    fail(fmt::format("{} is not the loop device of that number ({} in /sys)", node, number_in_sys),
         fmt::format("Remove that node and make it anew: mknod {} b 7 {}", node, number));
  }
  return device;
}

// Configured in one step, so that there is never a moment with a file attached and without autoclear. Returns 0 or an
// errno.
int configure(int device, const BackingFile& backing, const LoopOptions& options) {
  loop_config config{};
  config.fd = static_cast<__u32>(backing.file.get());
  config.block_size = options.sector_size;
  config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
  std::snprintf(reinterpret_cast<char*>(config.info.lo_file_name), LO_NAME_SIZE, "%s", backing.name.c_str());
  if (backing.direct_io && options.direct_io) {
    config.info.lo_flags |= LO_FLAGS_DIRECT_IO;
    if (ioctl(device, LOOP_CONFIGURE, &config) == 0) return 0;
    if (errno != EINVAL) return errno;
    // Some kernels refuse, others go through the page cache without a word, when the file system behind cannot do
    // direct I/O or not in sectors of this size.
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
  }
  return ioctl(device, LOOP_CONFIGURE, &config) == 0 ? 0 : errno;
}

devio::FileDescriptor open_control() {
  devio::FileDescriptor control(open("/dev/loop-control", O_RDWR | O_CLOEXEC));
  if (!control.valid()) {
    fail("/dev/loop-control cannot be opened: " + errno_text(errno),
         "Loop devices need root and a kernel that has them (modprobe loop); a container must be given "
         "/dev/loop-control.");
  }
  return control;
}

}  // namespace

void check_loop_control() {
  // Who is not root may ask all the same what root would be told.
  if (geteuid() != 0 && access("/dev/loop-control", F_OK) == 0) return;
  open_control();
}

std::unique_ptr<LoopDevice> LoopDevice::attach(const DeviceSpec& spec, const Before& before,
                                               const LoopOptions& options) {
  BackingFile backing;
  switch (spec.kind) {
    case DeviceSpec::Kind::loop_new:
      backing = make_unnamed_file(spec.size, options.preallocate);
      break;
    case DeviceSpec::Kind::ram:
      backing = make_memory(spec.size, options.preallocate);
      break;
    case DeviceSpec::Kind::loop_file:
      backing = open_image(spec.path);
      break;
    case DeviceSpec::Kind::block:
    case DeviceSpec::Kind::none:
      throw RunError("attach", spec.given + " is a device already, nothing is attached for it");
  }
  check_whole_sectors(spec, size_of(backing), options.sector_size);
  const bool had_holes = spec.kind == DeviceSpec::Kind::loop_file && !is_allocated(backing.file.get());
  const devio::FileDescriptor control = open_control();
  const Clock::time_point deadline = Clock::now() + patience;
  milliseconds pause(1);
  while (true) {
    const int number = ioctl(control.get(), LOOP_CTL_GET_FREE);
    if (number < 0)
      fail("the kernel has no free loop device: " + errno_text(errno), "Detach one that is not in use (losetup -a).");
    const std::string node = fmt::format("/dev/loop{}", number);
    devio::FileDescriptor device = open_node(node, number);
    struct stat file {};
    if (before && fstat(backing.file.get(), &file) == 0) before(node, file.st_dev, file.st_ino);
    const int error = configure(device.get(), backing, options);
    if (error == 0) {
      std::unique_ptr<LoopDevice> attached(new LoopDevice);
      attached->node_ = node;
      attached->backing_ = backing.name;
      attached->device_fd_ = device.release();
      attached->backing_fd_ = backing.file.release();
      attached->keep_allocated_ = options.preallocate && !had_holes;
      attached->in_memory_ = spec.kind == DeviceSpec::Kind::ram;
      attached->attached_ = true;
      attached->owner_ = getpid();
      return attached;
    }
    // EBUSY: another process got the same number in between.
    if (error != EBUSY || Clock::now() >= deadline) {
      fail(fmt::format("attaching {} to {} failed: {}", backing.name, node, errno_text(error)),
           error == EINVAL ? "LOOP_CONFIGURE needs Linux 5.8." : "See losetup -a for the devices in use.");
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, milliseconds(50));
  }
}

LoopDevice::~LoopDevice() {
  try {
    detach();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mongo: %s\n", error.what());
  }
}

bool LoopDevice::direct_io() const {
  return attached_ && devio::trimmed(devio::read_file(sys_folder(node_) + "/loop/dio").text) == "1";
}

bool LoopDevice::preallocated() const { return attached_ && is_allocated(backing_fd_); }

void LoopDevice::preallocate_again() {
  if (!attached_ || !keep_allocated_) return;
  int error = allocate(backing_fd_);
  // What the file system behind notes about the new blocks shall not be written in the middle of a phase.
  if (error == 0 && fsync(backing_fd_) != 0) error = errno;
  if (error == 0) return;
  throw RunError("preallocate", fmt::format("{}: filling the holes that mkfs made in it: {}. {}", backing_,
                                            errno_text(error), "Make room on the disk behind."));
}

std::string LoopDevice::backing_filesystem() const {
  struct stat info {};
  if (!attached_ || fstat(backing_fd_, &info) != 0) return "";
  return in_memory_ ? "tmpfs" : filesystem_of(info.st_dev);
}

void LoopDevice::drop_backing_cache() {
  if (!attached_ || in_memory_ || direct_io()) return;
  // Dirty pages are not dropped, so they are written first. Source: posix_fadvise(2), which returns the errno.
  const int error = fdatasync(backing_fd_) != 0 ? errno : posix_fadvise(backing_fd_, 0, 0, POSIX_FADV_DONTNEED);
  if (error != 0) throw RunError("drop caches", fmt::format("{}: {}", backing_, errno_text(error)));
}

void LoopDevice::detach() {
  if (!attached_ || getpid() != owner_) return;
  attached_ = false;
  const std::string file = attached_file(node_);
  // With another opener the kernel only marks the device, and lets go when that one closes it.
  const int error = ioctl(device_fd_, LOOP_CLR_FD, 0) == 0 ? 0 : errno;
  close(device_fd_);
  device_fd_ = -1;
  const Clock::time_point deadline = Clock::now() + patience;
  bool gone = file.empty() || attached_file(node_) != file;
  while (!gone && Clock::now() < deadline) {
    std::this_thread::sleep_for(milliseconds(5));
    gone = attached_file(node_) != file;
  }
  // The image stays locked until here: nobody shall find it free while the kernel may still write to it.
  close(backing_fd_);
  backing_fd_ = -1;
  if (!gone) {
    throw RunError(
        "detach",
        fmt::format("{} still has its file ({}) after {} s{}. Something has the device open or mounted; "
                    "see fuser {} and /proc/*/mountinfo. It is detached when that ends.",
                    node_, backing_, patience.count(), error != 0 ? ", LOOP_CLR_FD: " + errno_text(error) : "", node_));
  }
}

}  // namespace mongo
