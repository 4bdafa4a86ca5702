#include "harness/report/append.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "harness/core/descriptor.h"
#include "harness/core/errors.h"
#include "harness/report/catalogue.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

constexpr auto lock_timeout = std::chrono::seconds(60);
constexpr auto lock_retry = std::chrono::milliseconds(5);

[[noreturn]] void fail(const std::string& what, const std::string& why) {
  throw RunError("results", fmt::format("{}: {}", what, why));
}

/// One of the files of a log while a run is added to it.
struct Target {
  std::string name;  // in the directory
  std::string path;  // for messages
  std::string bytes;
  Descriptor file;
  std::optional<off_t> old_size;  // null until it has been looked at: nothing may be cut off before
  bool created = false;
};

Descriptor open_directory(const std::string& path) {
  Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) fail("cannot open the directory " + one_line(path), errno_text(errno));
  return directory;
}

/// Symbolic links are not followed: the tool runs as root, and a link in a folder of somebody else could name any file.
/// O_NONBLOCK keeps a pipe of that name from blocking the open.
constexpr int append_flags = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

void check_regular(const Target& target) {
  struct stat info {};
  if (::fstat(target.file.get(), &info) != 0) fail("cannot read " + target.path, errno_text(errno));
  if (!S_ISREG(info.st_mode)) fail("cannot append to " + target.path, "it is not a regular file");
}

std::string open_failure(int error) {
  if (error == ELOOP) return "it is a symbolic link, and these are not followed";
  if (error == EISDIR) return "it is a directory";
  if (error == ENXIO) return "it is not a regular file";
  return errno_text(error);
}

/// Opens an existing file; an empty descriptor if there is none.
void open_existing(int directory, Target& target) {
  target.file = Descriptor(::openat(directory, target.name.c_str(), append_flags));
  if (!target.file && errno != ENOENT) fail("cannot append to " + target.path, open_failure(errno));
  if (target.file) check_regular(target);
}

void open_or_create(int directory, Target& target) {
  // More than once when others make and remove the file between the two calls.
  for (int attempt = 0; attempt < 100; ++attempt) {
    open_existing(directory, target);
    if (target.file) return;
    target.file = Descriptor(::openat(directory, target.name.c_str(), append_flags | O_CREAT | O_EXCL, 0644));
    if (target.file) {
      target.created = true;
      return;
    }
    if (errno != EEXIST) fail("cannot create " + target.path, errno_text(errno));
  }
  fail("cannot create " + target.path, "another program keeps on making and removing it");
}

void lock(const Target& target) {
  const auto deadline = std::chrono::steady_clock::now() + lock_timeout;
  while (::flock(target.file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) fail("cannot lock " + target.path, errno_text(errno));
    if (std::chrono::steady_clock::now() > deadline) {
      fail("cannot lock " + target.path,
           fmt::format("another process has held its lock for {} s", lock_timeout.count()));
    }
    std::this_thread::sleep_for(lock_retry);
  }
}

bool still_named(int directory, const Target& target) {
  struct stat held {};
  struct stat named {};
  return ::fstat(target.file.get(), &held) == 0 &&
         ::fstatat(directory, target.name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 && held.st_dev == named.st_dev &&
         held.st_ino == named.st_ino;
}

/// Opens and locks the file whose lock stands for the whole log. The file may be removed or replaced while we wait for
/// its lock, by a user or by another run that cleans up after a failure; then the lock is worth nothing.
void open_locked(int directory, Target& target) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    target.created = false;
    open_or_create(directory, target);
    lock(target);
    if (still_named(directory, target)) return;
  }
  fail("cannot lock " + target.path, "another program keeps on replacing it");
}

/// The size to go back to, and a newline in front if the last run was cut off in the middle of a line.
void prepare(Target& target) {
  struct stat info {};
  if (::fstat(target.file.get(), &info) != 0) fail("cannot read " + target.path, errno_text(errno));
  target.old_size = info.st_size;
  if (info.st_size == 0) return;
  char last = '\n';
  const ssize_t got = ::pread(target.file.get(), &last, 1, info.st_size - 1);
  if (got < 0) fail("cannot read " + target.path, errno_text(errno));
  if (got == 1 && last != '\n') target.bytes.insert(0, 1, '\n');
}

void write_and_sync(const Target& target) {
  std::size_t done = 0;
  while (done < target.bytes.size()) {
    const ssize_t wrote = ::write(target.file.get(), target.bytes.data() + done, target.bytes.size() - done);
    if (wrote > 0) {
      // A short write is what a full disk gives first; the attempt to write the rest tells the reason.
      done += static_cast<std::size_t>(wrote);
    } else if (wrote == 0 || errno != EINTR) {
      fail("cannot append to " + target.path, fmt::format("{} of {} bytes written: {}", done, target.bytes.size(),
                                                          wrote == 0 ? "no progress" : errno_text(errno)));
    }
  }
  if (::fsync(target.file.get()) != 0) fail("cannot sync " + target.path, errno_text(errno));
}

/// Returns what could not be undone, for the message; empty if all was.
std::string roll_back(int directory, const std::vector<Target>& targets) {
  std::string left;
  for (const Target& target : targets) {
    if (!target.old_size) continue;
    if (::ftruncate(target.file.get(), *target.old_size) != 0) {
      left +=
          fmt::format("; {} could not be cut back to {} bytes: {}", target.path, *target.old_size, errno_text(errno));
      continue;
    }
    ::fsync(target.file.get());
    // Not empty although created here: another process has been faster with the lock.
    if (target.created && *target.old_size == 0) ::unlinkat(directory, target.name.c_str(), 0);
  }
  return left;
}

void check_directory_name(const std::string& path) {
  if (path.empty()) throw UsageError("the name of the results folder is empty");
  if (path.find('\0') != std::string::npos) throw UsageError("the name of the results folder holds a NUL byte");
}

/// What mkdir(2) said, or would say.
[[noreturn]] void refuse_directory(const std::string& path, int error) {
  if (error == ENOENT) {
    throw UsageError(fmt::format(
        "the results folder {} does not exist, and neither does the folder above it; make it first", one_line(path)));
  }
  if (error == ENOTDIR) {
    throw UsageError(
        fmt::format("the results folder {} would be inside something that is not a directory", one_line(path)));
  }
  fail("cannot make the directory " + one_line(path), errno_text(error));
}

[[noreturn]] void refuse_no_directory(const std::string& path) {
  throw UsageError(fmt::format("the results folder {} is not a directory", one_line(path)));
}

void make_directory(const std::string& path, bool& made) {
  check_directory_name(path);
  if (::mkdir(path.c_str(), 0755) == 0) {
    made = true;
    return;
  }
  const int error = errno;
  struct stat info {};
  if (error == ENOENT || error == ENOTDIR || ::stat(path.c_str(), &info) != 0) refuse_directory(path, error);
  if (!S_ISDIR(info.st_mode)) refuse_no_directory(path);
}

/// "a" of "a/b" and "a//b//"; "." of "b".
std::string folder_above(const std::string& path) {
  const std::size_t last = path.find_last_not_of('/');
  const std::size_t slash = last == std::string::npos ? last : path.rfind('/', last);
  if (slash == std::string::npos) return last == std::string::npos ? "/" : ".";
  const std::size_t end = path.find_last_not_of('/', slash);
  return end == std::string::npos ? "/" : path.substr(0, end + 1);
}

/// A file in the directory that has no name or loses it at once.
Descriptor open_nameless(int directory, const std::string& path) {
  Descriptor file(::openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL && errno != ENOENT)) return file;
  // Not every file system has O_TMPFILE. The process's number keeps runs at the same time apart.
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string name = fmt::format(".mongo-probe-{}-{}", ::getpid(), attempt);
    file = Descriptor(::openat(directory, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file) ::unlinkat(directory, name.c_str(), 0);
    if (file || errno != EEXIST) return file;
  }
  fail("cannot create a file in " + one_line(path), "a hundred names for it are taken");
}

void check_room(int directory, const std::string& path) {
  const Descriptor file = open_nameless(directory, path);
  if (!file) fail("cannot create a file in " + one_line(path), errno_text(errno));
  // About what the four files of a long run need.
  const std::string bytes(std::size_t{128} * 1024, '\n');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = ::write(file.get(), bytes.data() + done, bytes.size() - done);
    if (wrote > 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (wrote == 0 || errno != EINTR) {
      fail("cannot write to a file in " + one_line(path), errno_text(errno));
    }
  }
  // With delayed allocation a full disk shows only here.
  if (::fsync(file.get()) != 0) fail("cannot sync a file in " + one_line(path), errno_text(errno));
}

Target target_of(const std::string& results_dir, const std::string& log_name, const Format& format) {
  Target target;
  target.name = log_name + format.suffix;
  target.path = one_line(results_dir + "/" + target.name);
  return target;
}

}  // namespace

void check_results_writable(const std::string& results_dir, const std::string& log_name) {
  check_log_name(log_name);
  bool made = false;
  make_directory(results_dir, made);
  try {
    const Descriptor directory = open_directory(results_dir);
    check_room(directory.get(), results_dir);
    for (const Format* format : formats()) {
      Target target = target_of(results_dir, log_name, *format);
      open_existing(directory.get(), target);
    }
  } catch (...) {
    if (made) ::rmdir(results_dir.c_str());
    throw;
  }
}

void check_results_without_writing(const std::string& results_dir, const std::string& log_name) {
  check_log_name(log_name);
  check_directory_name(results_dir);
  struct stat info {};
  if (::stat(results_dir.c_str(), &info) != 0) {
    const int error = errno;
    // A link to nothing: mkdir(2) would find it there.
    if (error == ENOENT && ::lstat(results_dir.c_str(), &info) == 0) refuse_directory(results_dir, EEXIST);
    if (error != ENOENT || ::access(folder_above(results_dir).c_str(), W_OK | X_OK) != 0) {
      refuse_directory(results_dir, errno);
    }
    return;
  }
  if (!S_ISDIR(info.st_mode)) refuse_no_directory(results_dir);
  if (::access(results_dir.c_str(), W_OK | X_OK) != 0) {
    fail("cannot create a file in " + one_line(results_dir), errno_text(errno));
  }
  const Descriptor directory = open_directory(results_dir);
  for (const Format* format : formats()) {
    Target target = target_of(results_dir, log_name, *format);
    open_existing(directory.get(), target);
  }
}

void append_run(const std::string& results_dir, const std::string& log_name, const RunRecord& record) {
  check_log_name(log_name);
  std::vector<Target> targets;
  for (const Format* format : formats()) {
    targets.push_back(target_of(results_dir, log_name, *format));
    targets.back().bytes = format->render(record);
  }
  const Descriptor directory = open_directory(results_dir);
  // The .jsonl file comes first in the catalogue. Its lock is held until its descriptor is closed at the very end.
  open_locked(directory.get(), targets.front());
  try {
    for (Target& target : targets) {
      if (!target.file) open_or_create(directory.get(), target);
      prepare(target);
    }
    bool any_created = false;
    for (const Target& target : targets) {
      write_and_sync(target);
      any_created = any_created || target.created;
    }
    if (any_created && ::fsync(directory.get()) != 0) {
      fail("cannot sync the directory " + one_line(results_dir), errno_text(errno));
    }
  } catch (const RunError& error) {
    const std::string left = roll_back(directory.get(), targets);
    const std::string message = std::string(error.what()).substr(error.step().size() + 2);
    throw RunError(error.step(), message + (left.empty() ? "; the run was added to none of the files" : left));
  } catch (...) {
    roll_back(directory.get(), targets);
    throw;
  }
}

}  // namespace mongo
