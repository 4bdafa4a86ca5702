#include "harness/device/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "harness/core/errors.h"
#include "harness/device/journal_file.h"
#include "harness/device/processes.h"
#include "harness/device/system_files.h"

namespace mongo {
namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path) {
  throw RunError("journal",
                 fmt::format("{} {}: {}. Without it a killed run could not be cleaned up. Make room there or name "
                             "another folder in MONGO_STATE",
                             what, devio::printable(path), errno_text(errno)));
}

void sync_folder(const std::string& folder) {
  const devio::FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.valid() || fsync(opened.get()) != 0) fail("cannot sync", folder);
}

}  // namespace

std::string state_folder() {
  const char* folder = std::getenv("MONGO_STATE");
  return folder != nullptr && *folder != '\0' ? folder : "/var/lib/mongo";
}

JournalStep process_step(pid_t pid, const std::string& program) {
  return {JournalStep::Kind::process, program, "", static_cast<dev_t>(pid),
          static_cast<ino_t>(Processes().start_time(pid).value_or(0))};
}

std::unique_ptr<Journal> Journal::open(const std::string& folder, const std::string& run_id) {
  for (int attempt = 1;; ++attempt) {
    try {
      return try_to_open(folder, run_id);
    } catch (const RunError&) {
      // Another run that has just ended removes the folder when it is empty.
      if (errno != ENOENT || attempt == 20) throw;
    }
  }
}

std::unique_ptr<Journal> Journal::try_to_open(const std::string& folder, const std::string& run_id) {
  if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) fail("cannot make the folder", folder);
  const std::string path = fmt::format("{}/{}.journal", folder, run_id);
  // Without a name, or under another one, until it is locked: an unlocked journal is that of a dead run.
  std::string unlocked;
  int fd = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) {
    unlocked = path + ".new";
    fd = ::open(unlocked.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) fail("cannot make", unlocked);
  }
  std::unique_ptr<Journal> journal(new Journal(fd, folder, path));
  const std::string header = to_line(describe_self(run_id));
  const auto name_it = [&] {
    if (!unlocked.empty()) return rename(unlocked.c_str(), path.c_str());
    // Source: open(2), the example of O_TMPFILE.
    return linkat(AT_FDCWD, fmt::format("/proc/self/fd/{}", fd).c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW);
  };
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 ||
      write(fd, header.data(), header.size()) != static_cast<ssize_t>(header.size()) || fsync(fd) != 0 ||
      name_it() != 0) {
    const int error = errno;
    if (!unlocked.empty()) unlink(unlocked.c_str());
    errno = error;
    fail("cannot write", path);
  }
  sync_folder(folder);
  return journal;
}

Journal::~Journal() {
  if (fd_ >= 0) close(fd_);
}

void Journal::add(const JournalStep& step) {
  const std::string line = to_line(step);
  if (write(fd_, line.data(), line.size()) != static_cast<ssize_t>(line.size()) || fsync(fd_) != 0)
    fail("cannot write", path_);
}

void Journal::finish() {
  unlink(path_.c_str());
  close(fd_);
  fd_ = -1;
  rmdir(folder_.c_str());  // fails when another run has its journal there, as it should
}

}  // namespace mongo
