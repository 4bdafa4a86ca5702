#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

// What a run would leave behind if it were killed, on disk before it is there. One file a run in the state folder; the
// run holds a flock(2) on it, so whether the run lives is known without trusting a pid. A line is one step, as JSON.

namespace mongo {

/// Where journals are: $MONGO_STATE, or /var/lib/mongo.
std::string state_folder();

/// One step to be undone, with what proves that the thing found later is the run's own.
struct JournalStep {
  enum class Kind {
    directory,  // path; device and inode of the directory. Inode 0: the name holds the run's id and is proof enough
    mount,      // path is the mount point, node the device mounted there; device is its number
    loop,       // node; device and inode of the backing file
    lock,       // path of a lock file
    process,    // path is the program's name, device the pid and inode its start time: see process_step()
    pool,       // path is the name of a ZFS pool, which holds a random UUID and is proof enough; node its device
  };
  Kind kind = Kind::directory;
  std::string path;
  std::string node;
  dev_t device = 0;
  ino_t inode = 0;
};

/// The step for a daemon of the run, noted when it has been started: it dies with the run by itself. program: as in
/// /proc/PID/comm.
JournalStep process_step(pid_t pid, const std::string& program);

/// The journal of the run that this process is.
class Journal {
 public:
  /// Makes the file, locked from its first moment. Throws RunError("journal", ...) when it cannot be written.
  static std::unique_ptr<Journal> open(const std::string& folder, const std::string& run_id);
  /// Keeps the file if finish() was not called: something is left to be undone.
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Notes a step before it is done; on disk (fsync) when this returns. Throws RunError("journal", ...).
  void add(const JournalStep& step);
  /// All steps have been undone: the file goes, and the folder if it is empty.
  void finish();
  const std::string& path() const { return path_; }

 private:
  static std::unique_ptr<Journal> try_to_open(const std::string& folder, const std::string& run_id);
  Journal(int fd, std::string folder, std::string path) : fd_(fd), folder_(std::move(folder)), path_(std::move(path)) {}
  int fd_;
  std::string folder_, path_;
};

/// What a clean-up did.
struct CleanupReport {
  std::vector<std::string> undone;   // "removed the directory /work1"
  std::vector<std::string> left;     // what could not be undone, and why; its journal is kept
  std::vector<std::string> running;  // journals of runs that live: not touched
};

/// Undoes what killed runs left: their processes, mounts, loop devices, lock files and directories, each only if it is
/// provably theirs. What the kernel undoes by itself after a kill is waited for, at most for `patience`. Idempotent.
CleanupReport clean_up(const std::string& folder, std::chrono::milliseconds patience);

}  // namespace mongo
