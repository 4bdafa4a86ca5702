#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "harness/workers/shared_pages.h"

namespace mongo::workers {

/// The processes of one repetition; those that are left are killed and reaped on every way out.
class Processes {
 public:
  ~Processes() { kill_all(); }
  Processes() = default;
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  void add(pid_t pid, Slot& slot);
  /// In a new process: each of the others is a descriptor, and they count against its limit of open files.
  void close_descriptors();
  std::size_t left() const { return entries_.size(); }

  /// Waits for an end, the timeout, a signal, or that `done` (-1: nothing) is readable. Reaps what has ended; returns
  /// how the first bad one ended.
  std::string wait(std::chrono::milliseconds timeout, int watch_fd, int done = -1);
  void kill_all();

 private:
  struct Entry {
    pid_t pid;
    int descriptor;
    Slot* slot;
  };

  /// What a process that was stopped has used is told by the kernel only.
  static bool reap(const Entry& entry, int* status, int options);

  std::vector<Entry> entries_;
};

}  // namespace mongo::workers
