#include "harness/matrix/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "harness/core/errors.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

constexpr auto lock_retry = std::chrono::milliseconds(20);

[[noreturn]] void fail(const std::string& what, const std::string& path, int error) {
  throw RunError("results", fmt::format("{} {}: {}", what, one_line(path), errno_text(error)));
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

/// Returns 0 or the errno.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::write(fd, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return size < 0 ? errno : EIO;
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return 0;
}

}  // namespace

void replace_file(const std::string& path, std::string_view bytes, Durability durability) {
  const std::string beside = path + ".new";
  const bool synced = durability == Durability::synced;
  Descriptor file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file) fail("cannot make", beside, errno);
  int error = write_all(file.get(), bytes);
  if (error == 0 && synced && ::fsync(file.get()) != 0) error = errno;
  if (error == 0 && ::rename(beside.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(beside.c_str());
    fail("cannot write", path, error);
  }
  if (!synced) return;
  const Descriptor folder(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::fsync(folder.get()) != 0) fail("cannot sync the folder of", path, errno);
}

std::string read_whole_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) throw UsageError(fmt::format("cannot open {}: {}", one_line(path), errno_text(errno)));
  std::string text;
  char buffer[65536];
  while (true) {
    const ssize_t size = ::read(file.get(), buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) throw UsageError(fmt::format("cannot read {}: {}", one_line(path), errno_text(errno)));
    if (size == 0) return text;
    text.append(buffer, static_cast<std::size_t>(size));
  }
}

Descriptor take_lock(const std::string& path, std::chrono::milliseconds patience, const InterruptWatch* watch,
                     LockKind kind) {
  // No links: the usual folders for lock files can be written by everybody.
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0644));
  if (!file) throw UsageError(fmt::format("cannot open the lock file {}: {}", one_line(path), errno_text(errno)));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    throw UsageError(fmt::format("the lock file {} is no regular file", one_line(path)));
  }
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (::flock(file.get(), (kind == LockKind::shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      throw UsageError(fmt::format("cannot lock {}: {}", one_line(path), errno_text(errno)));
    }
    if (watch != nullptr) watch->check();
    if (std::chrono::steady_clock::now() >= deadline) return Descriptor();
    std::this_thread::sleep_for(lock_retry);
  }
  return file;
}

bool is_locked(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) return false;
  int result = ::flock(file.get(), LOCK_EX | LOCK_NB);
  // NFS wants a file that is open for writing for this one, which not everybody may. Source: flock(2).
  if (result != 0 && errno == EBADF) result = ::flock(file.get(), LOCK_SH | LOCK_NB);
  return result != 0 && errno == EWOULDBLOCK;
}

}  // namespace mongo
