#include "harness/device/loop_backing.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>

#include "harness/core/errors.h"
#include "harness/device/kernel_view.h"
#include "harness/device/processes.h"
#include "harness/device/sys_block.h"

namespace mongo {

namespace {

constexpr std::uint64_t sector = 512;
constexpr const char* file_advice =
    "Set TMPDIR to a folder on a disk with enough room, or use an image of your own (loop:PATH).";

[[noreturn]] void fail(const std::string& what, int error, const std::string& advice) {
  throw RunError("attach", fmt::format("{}: {}. {}", what, errno_text(error), advice));
}

[[noreturn]] void refuse_image(const std::string& path, const std::string& what, const std::string& advice) {
  throw DeviceRefused(fmt::format("refusing to use loop:{}: it {}. {}", devio::printable(path), what, advice));
}

std::string temporary_folder() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/var/tmp";
}

int open_unnamed(const std::string& folder) {
  const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  // EISDIR and EINVAL: kernels and file systems that read O_TMPFILE as something else. Source: open(2).
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
  std::string name = folder + "/mongo-XXXXXX";
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

std::optional<std::uint64_t> available_memory() {
  const devio::FileText text = devio::read_file("/proc/meminfo");
  for (const std::string& line : devio::lines_of(text.text)) {
    const std::vector<std::string> words = devio::words_of(line);
    if (words.size() < 2 || words[0] != "MemAvailable:") continue;
    std::uint64_t kib = 0;
    std::from_chars(words[1].data(), words[1].data() + words[1].size(), kib);
    return kib * 1024;
  }
  return std::nullopt;
}

// "1: FLOCK  ADVISORY  WRITE 708 fe:00:131 0 EOF", device numbers in hexadecimal. Source: proc(5).
std::string lock_holder(const struct stat& image) {
  for (const std::string& line : devio::lines_of(devio::read_file("/proc/locks").text)) {
    const std::vector<std::string> words = devio::words_of(line);
    const std::string where = fmt::format("{:02x}:{:02x}:{}", major(image.st_dev), minor(image.st_dev), image.st_ino);
    if (words.size() < 6 || words[1] != "FLOCK" || words[5] != where) continue;
    const long pid = std::strtol(words[4].c_str(), nullptr, 10);
    if (pid > 0) return fmt::format(" by pid {} ({})", pid, Processes().program(static_cast<int>(pid)));
  }
  return " by another process";
}

void check_kind(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) {
      refuse_image(path, "does not exist", "Make it first (truncate -s 2G FILE), or give a size: loop:2GiB.");
    }
    refuse_image(path, "cannot be looked at: " + errno_text(errno), "Check the path.");
  }
  if (S_ISREG(info.st_mode)) return;
  if (S_ISBLK(info.st_mode)) {
    refuse_image(path, "is a block device", "Name it without loop: if you mean the device.");
  }
  const char* kind = S_ISDIR(info.st_mode)   ? "a directory"
                     : S_ISCHR(info.st_mode) ? "a character device"
                                             : "no regular file";
  refuse_image(path, fmt::format("is {}", kind), "Name an image file.");
}

void check_not_attached(const std::string& path, const struct stat& image) {
  const std::shared_ptr<const KernelView> kernel = real_kernel_view();
  try {
    const SysBlocks blocks("/");
    for (const SysBlock& loop : blocks.attached_loops()) {
      const LoopBacking backing = kernel->loop_backing(loop.node());
      if (backing.error == ENXIO) continue;  // detached meanwhile
      if (backing.error != 0) {
        refuse_image(
            path,
            fmt::format("may be attached to {}, which cannot be asked: {}", loop.node(), errno_text(backing.error)),
            "Make its node available and try again.");
      }
      if (backing.device == image.st_dev && backing.inode == image.st_ino) {
        refuse_image(path, "is attached to " + loop.node() + " already",
                     fmt::format("Detach it first (losetup -d {}) if that is not in use.", loop.node()));
      }
    }
  } catch (const CannotTell& error) {
    refuse_image(path, fmt::format("may be attached already: {}", error.what()), "Is /sys mounted?");
  }
}

void check_not_swap(const std::string& path, const struct stat& image) {
  const devio::FileText swaps = devio::read_file("/proc/swaps");
  if (swaps.error != 0 && swaps.error != ENOENT) {
    refuse_image(path, "may be in use as swap: /proc/swaps: " + errno_text(swaps.error), "Is /proc mounted?");
  }
  const std::vector<std::string> lines = devio::lines_of(swaps.text);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> words = devio::words_of(lines[i]);
    struct stat info {};
    if (words.empty() || stat(devio::unescape_octal(words[0]).c_str(), &info) != 0) continue;
    if (info.st_dev == image.st_dev && info.st_ino == image.st_ino) {
      refuse_image(path, "is in use as swap", "swapoff it first if it may be lost.");
    }
  }
}

std::vector<ProcessUse> writers_of(const std::string& path, const struct stat& image) {
  const Processes processes;
  const ProcessUses uses = processes.open_files([&](const NodeStat& file) {
    return file.error == 0 && S_ISREG(file.mode) && file.device == image.st_dev && file.inode == image.st_ino;
  });
  if (uses.error != 0) {
    refuse_image(path, "may be open elsewhere: /proc/*/fd: " + errno_text(uses.error), "Run as root.");
  }
  if (!uses.hidden.empty() && !real_kernel_view()->may_look_at_processes()) {
    refuse_image(path, fmt::format("may be open in pid {}, whose files cannot be looked at", uses.hidden.front()),
                 "Run as root with CAP_SYS_PTRACE.");
  }
  std::vector<ProcessUse> writers;
  const int self = static_cast<int>(getpid());
  std::copy_if(uses.found.begin(), uses.found.end(), std::back_inserter(writers),
               [&](const ProcessUse& use) { return use.writes && use.pid != self; });
  return writers;
}

// A virtual machine running from the image has it open and takes no flock. Another run that was started at the same
// moment has it open too, until it finds that it is locked.
void check_no_writer(const std::string& path, const struct stat& image) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (true) {
    const std::vector<ProcessUse> writers = writers_of(path, image);
    if (writers.empty()) return;
    if (std::chrono::steady_clock::now() >= deadline) {
      refuse_image(path, "is open for writing in " + list_uses(writers), "End that program first.");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

void check_room(ByteSize size) {
  const std::string folder = temporary_folder();
  if (access(folder.c_str(), W_OK | X_OK) != 0) fail("making a file in " + folder, errno, file_advice);
  struct statvfs room {};
  if (statvfs(folder.c_str(), &room) != 0) fail("asking for the free space in " + folder, errno, file_advice);
  const ByteSize free{static_cast<std::uint64_t>(room.f_bavail) * room.f_frsize};
  if (size > free) {
    throw RunError("attach", fmt::format("{} do not fit into {}, where {} are free. {}", format_exact(size), folder,
                                         format_rounded(free), file_advice));
  }
}

void check_memory(ByteSize size) {
  const std::optional<std::uint64_t> available = available_memory();
  if (!available)
    throw RunError("attach", "/proc/meminfo does not tell how much memory is available. Is /proc mounted?");
  if (size.bytes > *available) {
    throw RunError("attach",
                   fmt::format("{} do not fit into memory, where {} are available. Use a smaller size, or loop:SIZE.",
                               format_exact(size), format_rounded(ByteSize{*available})));
  }
}

void check_whole_sectors(const DeviceSpec& spec, std::uint64_t bytes, unsigned sector_size) {
  if (sector_size <= sector || bytes % sector_size == 0) return;
  const std::string what = fmt::format("has {} bytes, no multiple of its sectors' {}", bytes, sector_size);
  const std::string advice = "Take another size, or sectors of 512 bytes.";
  if (spec.kind == DeviceSpec::Kind::loop_file) refuse_image(spec.path, what, advice);
  throw RunError("attach", fmt::format("{} {}. {}", devio::printable(spec.given), what, advice));
}

std::uint64_t size_of(const BackingFile& backing) {
  struct stat info {};
  if (fstat(backing.file.get(), &info) != 0) fail("asking for the size of " + backing.name, errno, file_advice);
  return static_cast<std::uint64_t>(info.st_size);
}

int allocate(int file) {
  struct stat info {};
  if (fstat(file, &info) != 0) return errno;
  while (fallocate(file, FALLOC_FL_KEEP_SIZE, 0, info.st_size) != 0) {
    if (errno == EOPNOTSUPP || errno == ENOSYS) return 0;
    if (errno != EINTR) return errno;
  }
  return 0;
}

bool is_allocated(int file) {
  struct stat info {};
  // st_blocks is in units of 512 bytes whatever the file system's blocks are.
  return fstat(file, &info) == 0 && info.st_blocks >= (info.st_size + 511) / 512;
}

BackingFile make_unnamed_file(ByteSize size, bool preallocate) {
  check_room(size);
  const std::string folder = temporary_folder();
  BackingFile backing;
  backing.file = devio::FileDescriptor(open_unnamed(folder));
  backing.name = "unnamed file in " + folder;
  backing.direct_io = true;
  if (!backing.file.valid()) fail("making a file in " + folder, errno, file_advice);
  const auto length = static_cast<off_t>(size.bytes);
  if (ftruncate(backing.file.get(), length) != 0) {
    fail(fmt::format("making a file of {} in {}", format_exact(size), folder), errno, file_advice);
  }
  // Allocated now, so that the disk behind cannot run full in the middle of a measurement.
  if (const int error = preallocate ? allocate(backing.file.get()) : 0; error != 0) {
    fail(fmt::format("allocating {} in {}", format_exact(size), folder), error, file_advice);
  }
  return backing;
}

BackingFile make_memory(ByteSize size, bool preallocate) {
  check_memory(size);
  BackingFile backing;
  // The pid makes the name in /sys/block/loopN/loop/backing_file differ from that of a successor on the same device.
  backing.file = devio::FileDescriptor(memfd_create(fmt::format("mongo-{}", getpid()).c_str(), MFD_CLOEXEC));
  backing.name = "memory";
  int error = 0;
  if (!backing.file.valid() || ftruncate(backing.file.get(), static_cast<off_t>(size.bytes)) != 0) error = errno;
  if (error == 0 && preallocate) error = allocate(backing.file.get());
  if (error != 0) fail(fmt::format("making {} of memory", format_exact(size)), error, "Use loop:SIZE instead.");
  return backing;
}

BackingFile open_image(const std::string& path) {
  if (path.empty()) throw DeviceRefused("refusing to use loop: without a size or path. Say e.g. loop:2GiB.");
  check_kind(path);
  BackingFile backing;
  backing.file = devio::FileDescriptor(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!backing.file.valid()) {
    refuse_image(path, "cannot be opened for writing: " + errno_text(errno),
                 "Check its permissions and its file system.");
  }
  struct stat info {};
  if (fstat(backing.file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    refuse_image(path, "is no regular file", "Name an image file.");
  }
  const devio::FileText resolved = devio::real_path(path);
  backing.name = resolved.error == 0 ? resolved.text : path;
  backing.direct_io = true;
  if (static_cast<std::uint64_t>(info.st_size) < sector) {
    refuse_image(path, fmt::format("has {} bytes, less than one sector", info.st_size),
                 "Make it larger (truncate -s 2G).");
  }
  // The lock first, so that of two runs on one image one is refused, whatever each sees of the other afterwards.
  if (flock(backing.file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      refuse_image(path, "is in use: it is locked" + lock_holder(info),
                   "Wait for that run to end, or use another image.");
    }
    refuse_image(path, "cannot be locked: " + errno_text(errno), "Copy it to a local file system.");
  }
  check_not_attached(path, info);
  check_not_swap(path, info);
  check_no_writer(path, info);
  return backing;
}

}  // namespace mongo
