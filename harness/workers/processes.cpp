#include "harness/workers/processes.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "harness/core/errors.h"

namespace mongo::workers {

void Processes::add(pid_t pid, Slot& slot) {
  const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  entries_.push_back({pid, descriptor, &slot});
  if (descriptor < 0) {
    const bool too_many = errno == EMFILE;
    throw RunError("workers", "pidfd_open: " + errno_text(errno) +
                                  (too_many ? ": raise the limit of open files (ulimit -n)" : ""));
  }
}

void Processes::close_descriptors() {
  for (const Entry& entry : entries_) close(entry.descriptor);
}

std::string Processes::wait(std::chrono::milliseconds timeout, int watch_fd, int done) {
  std::vector<pollfd> polled;
  for (const Entry& entry : entries_) polled.push_back({entry.descriptor, POLLIN, 0});
  polled.push_back({watch_fd, POLLIN, 0});
  polled.push_back({done, POLLIN, 0});
  poll(polled.data(), polled.size(), static_cast<int>(std::min<std::int64_t>(timeout.count(), 1'000'000)));
  std::string bad;
  for (std::size_t i = entries_.size(); i-- > 0;) {
    int status = 0;
    if (polled[i].revents == 0 || !reap(entries_[i], &status, WNOHANG)) continue;
    if (WIFSIGNALED(status)) {
      bad = fmt::format("process {} was killed by signal {} ({})", entries_[i].pid, WTERMSIG(status),
                        strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != 0) {
      bad = fmt::format("process {} could not begin its work (status {})", entries_[i].pid, WEXITSTATUS(status));
    }
    close(entries_[i].descriptor);
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return bad;
}

void Processes::kill_all() {
  for (const Entry& entry : entries_) kill(entry.pid, SIGKILL);
  for (const Entry& entry : entries_) {
    // A process in an uninterruptible call ends when the call does: there is nothing else to do than to wait.
    while (!reap(entry, nullptr, 0) && errno == EINTR) {
    }
    if (entry.descriptor >= 0) close(entry.descriptor);
  }
  entries_.clear();
}

bool Processes::reap(const Entry& entry, int* status, int options) {
  rusage used{};
  if (wait4(entry.pid, status, options, &used) != entry.pid) return false;
  if (!entry.slot->finished) entry.slot->after = used;
  return true;
}

}  // namespace mongo::workers
