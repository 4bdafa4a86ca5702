#include "harness/device/run_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "harness/core/errors.h"

namespace mongo {
namespace {

/// The pid in the file. The holder writes it just after it has the lock, so it may take a moment to appear.
std::string read_holder(int fd) {
  for (int attempt = 0; attempt < 50; ++attempt) {
    char text[32] = {};
    const ssize_t size = pread(fd, text, sizeof text - 1, 0);
    if (size > 0 && text[size - 1] == '\n') return std::string(text, static_cast<std::size_t>(size) - 1);
    usleep(10'000);
  }
  return "";
}

}  // namespace

std::string RunLock::path_of(unsigned major, unsigned minor, const std::string& folder) {
  return fmt::format("{}/{}-{}", folder, major, minor);
}

std::string RunLock::path_of(const std::string& mount_point, const std::string& folder) {
  // A name of fixed length for a path of any: FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : mount_point) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{}/mount-point-{:016x}", folder, hash);
}

std::unique_ptr<RunLock> RunLock::take(const std::string& path, const std::string& what) {
  const std::string folder = path.substr(0, path.rfind('/'));
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
      throw RunError("lock", fmt::format("cannot make {}: {}", folder, errno_text(errno)));
    }
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0 && errno == ENOENT) continue;  // the last holder of another lock has just removed the folder
    if (fd < 0) throw RunError("lock", fmt::format("cannot open {}: {}", path, errno_text(errno)));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      const std::string holder = read_holder(fd);
      close(fd);
      if (error != EWOULDBLOCK) throw RunError("lock", fmt::format("cannot lock {}: {}", path, errno_text(error)));
      throw DeviceRefused(fmt::format("{} is in use by another run of mongo{} ({}). Wait for its end, or name another",
                                      what, holder.empty() ? "" : ", pid " + holder, path));
    }
    // The last holder removes the file; a lock on a removed file guards nothing.
    struct stat held {
    }, named{};
    if (fstat(fd, &held) == 0 && stat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
        held.st_dev == named.st_dev) {
      const std::string pid = fmt::format("{}\n", getpid());
      if (ftruncate(fd, 0) != 0 || pwrite(fd, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
        // Only for the other side's message.
      }
      return std::unique_ptr<RunLock>(new RunLock(fd, path));
    }
    close(fd);
  }
  throw RunError("lock", fmt::format("{} changes all the time; is something removing it?", path));
}

RunLock::~RunLock() {
  unlink(path_.c_str());
  close(fd_);
  rmdir(path_.substr(0, path_.rfind('/')).c_str());  // fails while another lock is in it, as it should
}

}  // namespace mongo
