#include "harness/device/private_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>

#include "harness/core/errors.h"
#include "harness/device/system_files.h"

namespace mongo {
namespace {

// On a folder that was made to mount on: it is nobody else's.
constexpr const char* mark = "trusted.mongo";

[[noreturn]] void fail(const std::string& what, const std::string& path, int error) {
  throw RunError("private folder", fmt::format("{} {}: {}", what, devio::printable(path), errno_text(error)));
}

bool is_marked(int fd) { return fgetxattr(fd, mark, nullptr, 0) >= 0; }

bool same_file(int fd, const std::string& path, struct stat& info) {
  struct stat named {};
  return fstat(fd, &info) == 0 && lstat(path.c_str(), &named) == 0 && info.st_dev == named.st_dev &&
         info.st_ino == named.st_ino;
}

}  // namespace

bool in_private_mount_namespace() {
  const devio::FileText own = devio::read_link("/proc/self/ns/mnt");
  const devio::FileText outside = devio::read_link(fmt::format("/proc/{}/ns/mnt", getppid()));
  return own.error == 0 && (outside.error != 0 || own.text != outside.text);
}

PrivateFolder::PrivateFolder(const std::string& path, const Note& note) : path_(path), owner_(getpid()) {
  // What is mounted here must not hide the system's own folder from others.
  if (!in_private_mount_namespace()) {
    throw RunError("private folder", fmt::format("{} is not made outside of a private mount namespace", path));
  }
  open_and_hold(note);
  if (::mount("mongo", path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700,size=1m") != 0) {
    const int error = errno;
    remove();
    fail("cannot mount a tmpfs on", path, error);
  }
  mounted_ = true;
}

void PrivateFolder::open_and_hold(const Note& note) {
  for (int attempt = 1;; ++attempt) {
    const bool made = mkdir(path_.c_str(), 0755) == 0;
    if (!made && errno != EEXIST) fail("cannot make the folder", path_, errno);
    Descriptor folder(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!folder && errno != ENOENT) fail("cannot open", path_, errno);
    struct stat info {};
    // Another run that has just ended removes it. One that is held is not removed.
    if (folder && flock(folder.get(), LOCK_SH) == 0 && same_file(folder.get(), path_, info)) {
      // Without extended attributes the folder stays; it is empty and does no harm.
      if (made) fsetxattr(folder.get(), mark, "1", 1, 0);
      if (is_marked(folder.get()) && note) note(path_, info.st_dev, info.st_ino);
      below_ = std::move(folder);
      return;
    }
    if (attempt == 20) fail("somebody else keeps removing", path_, ENOENT);
  }
}

PrivateFolder::~PrivateFolder() {
  if (getpid() != owner_) return;
  try {
    remove();
  } catch (const RunError&) {
    // The journal has it.
  }
}

void PrivateFolder::remove() {
  if (mounted_ && umount2(path_.c_str(), UMOUNT_NOFOLLOW) != 0 && errno != EINVAL) fail("cannot unmount", path_, errno);
  mounted_ = false;
  if (!below_) return;
  // Asked again: another run may have been about to mark it when this one began.
  const bool marked = is_marked(below_.get());
  flock(below_.get(), LOCK_UN);  // the descriptor may have been inherited
  below_ = Descriptor();
  if (!marked) return;
  // ENOTEMPTY: a daemon of the system's has begun to use it.
  const int error = remove_unneeded_folder(path_);
  if (error != 0 && error != ENOENT && error != ENOTEMPTY && error != EWOULDBLOCK) {
    fail("cannot remove the folder", path_, error);
  }
}

int remove_unneeded_folder(const std::string& path) {
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  // rmdir would unmount what another run has mounted on it in its own namespace.
  if (folder && flock(folder.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return EWOULDBLOCK;
  return rmdir(path.c_str()) == 0 ? 0 : errno;
}

}  // namespace mongo
