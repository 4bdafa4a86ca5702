#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "phases/phase.h"
#include "phases/support/current_path.h"
#include "phases/support/latency.h"

namespace mongo::phases {

/// Adds to one of the Counters that the harness reads while the worker runs. The worker is its only writer, so that no
/// locked instruction is needed.
inline void add(std::atomic<std::uint64_t>& counter, std::uint64_t n) {
  counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

/// The system calls of the phases, on names relative to one directory. Each makes its call once more when a signal
/// interrupted it, and counts a failure with operation, errno and path; the result then is false or negative. This is
/// the one place where operations can be observed.
class Operations {
 public:
  /// The names are relative to the current directory, and `path` follows it.
  /// A clock that is shared with other Operations of the same worker, and outlives this: operations follow each other
  /// whoever makes them.
  Operations(Counters& counters, LatencyClock& clock, const CurrentPath& path)
      : counters_(counters), clock_(clock), path_(path) {}

  /// What the worker did since the last operation is not part of the next one.
  void restart_clock() { clock_.restart(); }

  /// From now on names are relative to this directory. The descriptor remains the caller's.
  void set_directory(int fd) { directory_ = fd; }
  int directory() const { return directory_; }

  int create(const char* name) {
    return attempt(Operation::create, name, [&] {
      return ::openat(directory_, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0777);
    });
  }

  int open_file(const char* name) {
    return attempt(Operation::open, name,
                   [&] { return ::openat(directory_, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW); });
  }

  /// That there is no such directory is counted only when it is not to be tolerated.
  int open_directory(const char* name, bool tolerate_absence = false) {
    const auto open = [&] { return ::openat(directory_, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW); };
    if (tolerate_absence) {
      const int fd = open();
      if (fd >= 0 || errno == ENOENT) {
        return fd;
      }
    }
    return attempt(Operation::open, name, open);
  }

  /// Writes all of it, and adds what was written to Counters::bytes. Short writes are continued; that nothing at all
  /// was written is an error, counted as EIO.
  bool write(int fd, const char* data, std::size_t length, const char* name) {
    while (length > 0) {
      const ssize_t written = attempt(Operation::write, name, [&] { return ::write(fd, data, length); });
      if (written <= 0) {
        if (written == 0) {
          fail(Operation::write, EIO, name);
        }
        return false;
      }
      add(counters_.bytes, static_cast<std::uint64_t>(written));
      data += written;
      length -= static_cast<std::size_t>(written);
    }
    return true;
  }

  /// The number of bytes read, 0 at the end of the file.
  ssize_t read(int fd, char* buffer, std::size_t size, const char* name) {
    return attempt(Operation::read, name, [&] { return ::read(fd, buffer, size); });
  }

  /// Waits until the device has the file's data, and what is needed to find it again.
  bool fsync(int fd, const char* name) {
    return attempt(Operation::fsync, name, [&] { return ::fsync(fd); }) == 0;
  }

  /// Not repeated when interrupted: the descriptor is gone then, and whether the data arrived is unknown.
  bool close(int fd, const char* name) {
    const int result = ::close(fd);
    clock_.operation_ended(Operation::close);
    if (result == 0) [[likely]] {
      return true;
    }
    fail(Operation::close, errno, name);
    return false;
  }

  bool lstat(const char* name, struct stat& status) {
    return attempt(Operation::lstat, name, [&] { return ::fstatat(directory_, name, &status, AT_SYMLINK_NOFOLLOW); }) ==
           0;
  }

  enum class Presence { there, absent, failed };

  /// As lstat, but that there is no such file is not counted.
  Presence look_for(const char* name, struct stat& status) {
    if (::fstatat(directory_, name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
      return Presence::there;
    }
    if (errno == ENOENT) {
      return Presence::absent;
    }
    fail(Operation::lstat, errno, name);
    return Presence::failed;
  }

  bool symlink(const char* target, const char* name) {
    return attempt(Operation::symlink, name, [&] { return ::symlinkat(target, directory_, name); }) == 0;
  }

  /// The number of bytes put into the buffer; as many as fit when the target is longer.
  ssize_t readlink(const char* name, char* buffer, std::size_t size) {
    return attempt(Operation::readlink, name, [&] { return ::readlinkat(directory_, name, buffer, size); });
  }

  bool rename(const char* name, const char* new_name) {
    return attempt(Operation::rename, name, [&] { return ::renameat(directory_, name, directory_, new_name); }) == 0;
  }

  bool unlink(const char* name) {
    return attempt(Operation::unlink, name, [&] { return ::unlinkat(directory_, name, 0); }) == 0;
  }

  bool mkdir(const char* name) {
    return attempt(Operation::mkdir, name, [&] { return ::mkdirat(directory_, name, 0755); }) == 0;
  }

  enum class Removal { done, not_empty, failed };

  /// That the directory is not empty is counted only when it is not to be tolerated.
  Removal rmdir(const char* name, bool tolerate_not_empty) {
    while (true) {
      const int result = ::unlinkat(directory_, name, AT_REMOVEDIR);
      clock_.operation_ended(Operation::rmdir);
      if (result == 0) {
        return Removal::done;
      }
      // POSIX allows both numbers for the same thing.
      if (tolerate_not_empty && (errno == ENOTEMPTY || errno == EEXIST)) {
        return Removal::not_empty;
      }
      if (errno != EINTR) {
        fail(Operation::rmdir, errno, name);
        return Removal::failed;
      }
    }
  }

  /// `shown` is the name for the error message.
  bool change_directory(int fd, const char* shown) {
    return attempt(Operation::change_directory, shown, [&] { return ::fchdir(fd); }) == 0;
  }

  bool change_directory(const char* name) {
    return attempt(Operation::change_directory, name, [&] { return ::chdir(name); }) == 0;
  }

  /// getdents64(2) of the current directory, open as fd. The number of bytes read, 0 at the end.
  long read_directory(int fd, void* buffer, std::size_t size) {
    return attempt(Operation::read_directory, here(), [&] { return ::syscall(SYS_getdents64, fd, buffer, size); });
  }

  bool seek_directory(int fd, std::int64_t offset) {
    return attempt(Operation::read_directory, here(), [&] { return ::lseek(fd, offset, SEEK_SET); }) >= 0;
  }

  /// Counts a failure that the caller has dealt with itself.
  void fail(Operation operation, int error_number, const char* name) {
    counters_.count_error(operation, error_number, path_.relative(), name);
  }

  /// All of the phase's work on one more file has succeeded.
  void count_file() { add(counters_.files, 1); }
  void count_read(ssize_t bytes) { add(counters_.bytes, static_cast<std::uint64_t>(bytes)); }

 private:
  template <class Call>
  std::invoke_result_t<Call> attempt(Operation operation, const char* name, Call call) {
    for (;;) {
      const auto result = call();
      clock_.operation_ended(operation);
      if (result >= 0) [[likely]] {
        return result;
      }
      if (errno != EINTR) {
        fail(operation, errno, name);
        return result;
      }
    }
  }

  /// The current directory as a name of its own: its path says it all, except at the root.
  const char* here() const { return *path_.relative() == '\0' ? "." : ""; }

  Counters& counters_;
  LatencyClock& clock_;
  const CurrentPath& path_;
  int directory_ = AT_FDCWD;
};

}  // namespace mongo::phases
