#include "harness/measure/space.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "harness/core/errors.h"

namespace mongo {

Space read_space(int fd) {
  struct statvfs info {};
  if (fstatvfs(fd, &info) != 0) throw RunError("measure", "statvfs of the mounted file system: " + errno_text(errno));
  Space space;
  space.used_bytes = static_cast<std::uint64_t>(info.f_blocks - info.f_bfree) * info.f_frsize;
  space.free_bytes = static_cast<std::uint64_t>(info.f_bfree) * info.f_frsize;
  space.inodes = info.f_files;
  space.free_inodes = info.f_ffree;
  return space;
}

SyncResult sync_filesystem(int fd) {
  const auto start = std::chrono::steady_clock::now();
  SyncResult result;
  if (syncfs(fd) != 0) result.error = errno;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace mongo
