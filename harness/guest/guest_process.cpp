#include "harness/guest/guest_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "harness/core/errors.h"
#include "harness/core/interrupt.h"
#include "harness/guest/guest_mounts.h"

namespace mongo::guest {
namespace {

/// From the keeper, or from the program's process before exec.
struct Report {
  enum class What { not_started, ended } what;
  int value;      // errno, or a status as of waitpid(2)
  char step[32];  // what was not possible
};

void send(int fd, Report::What what, int value, const char* step = "") {
  Report report{what, value, {}};
  for (std::size_t i = 0; i + 1 < sizeof report.step && step[i] != '\0'; ++i) report.step[i] = step[i];
  // Less than PIPE_BUF: all or nothing.
  [[maybe_unused]] const ssize_t written = write(fd, &report, sizeof report);
}

/// What the new processes need, made before the fork.
struct Prepared {
  const GuestProcess::Plan& plan;
  std::vector<char*> argv, environment;
  int parent;  // a pidfd
  int null, console, report;
};

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

/// A guest needs to read, write and trace, and nothing else that root may do. linux.uml runs as root on the host, and
/// if it is killed alone, what ran in the guest is for a moment a process of the host.
void drop_capabilities() {
  for (int capability = 0; prctl(PR_CAPBSET_READ, capability) >= 0; ++capability) {
    const bool needed = capability == CAP_DAC_OVERRIDE || capability == CAP_DAC_READ_SEARCH ||
                        capability == CAP_FOWNER || capability == CAP_SYS_PTRACE;
    if (!needed) prctl(PR_CAPBSET_DROP, capability);
  }
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

[[noreturn]] void become_program(const Prepared& prepared) {
  const auto fail = [&](const char* step) {
    send(prepared.report, Report::What::not_started, errno, step);
    _exit(127);
  };
  if (dup2(prepared.null, 0) < 0 || dup2(prepared.console, 1) < 0 || dup2(prepared.console, 2) < 0) fail("dup2");
  for (const int fd : prepared.plan.kept) {
    if (fcntl(fd, F_SETFD, 0) != 0) fail("fcntl");
  }
  const rlimit no_core{0, 0};  // a panic ends in abort()
  setrlimit(RLIMIT_CORE, &no_core);
  if (prepared.plan.cpu >= 0) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(static_cast<std::size_t>(prepared.plan.cpu), &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) fail("sched_setaffinity");
  }
  drop_capabilities();
  execve(prepared.argv[0], prepared.argv.data(), prepared.environment.data());
  fail("exec");
  _exit(127);
}

/// The first process of the namespace. Its signals can only come from outside, and of those only SIGKILL counts.
[[noreturn]] void keep(const Prepared& prepared) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // getppid() says 0 here. A parent that ended before the line above sends no signal any more.
  pollfd parent{prepared.parent, POLLIN, 0};
  if (poll(&parent, 1, 0) != 0) _exit(127);
  prctl(PR_SET_NAME, "mongo-guest");
  setpgid(0, 0);
  umask(022);
  InterruptWatch::restore_defaults();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  Descriptor tree = enter_read_only_tree();
  if (!tree) {
    send(prepared.report, Report::What::not_started, errno, "a read-only tree of mounts");
    _exit(127);
  }
  const pid_t program = fork();
  if (program == 0) become_program(prepared);
  if (program < 0) {
    send(prepared.report, Report::What::not_started, errno, "fork");
    _exit(127);
  }
  // Locks and devices of this process's parent must not live longer because of the keeper.
  const auto report = static_cast<unsigned>(prepared.report);
  if (report > 0) syscall(SYS_close_range, 0U, report - 1, 0U);
  syscall(SYS_close_range, report + 1, UINT_MAX, 0U);
  for (;;) {
    int status = 0;
    const pid_t ended = wait(&status);
    if (ended == program) {
      send(prepared.report, Report::What::ended, status);
      _exit(0);
    }
    if (ended < 0 && errno != EINTR) _exit(127);
  }
}

Descriptor open_pidfd(pid_t pid) { return Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))); }

[[noreturn]] void fail(const std::string& what) {
  throw RunError("guest", what + " could not be started: " + errno_text(errno));
}

}  // namespace

GuestProcess::GuestProcess(const Plan& plan) {
  int console[2], report[2];
  if (pipe2(console, O_CLOEXEC) != 0) fail(plan.argv.at(0));
  console_ = Descriptor(console[0]);
  const Descriptor console_end(console[1]);
  if (pipe2(report, O_CLOEXEC | O_NONBLOCK) != 0) fail(plan.argv[0]);
  report_ = Descriptor(report[0]);
  const Descriptor report_end(report[1]);
  const Descriptor null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Descriptor parent = open_pidfd(getpid());
  if (!null || !parent || fcntl(console_.get(), F_SETFL, O_NONBLOCK) != 0) fail(plan.argv[0]);

  const Prepared prepared{plan,
                          pointers(plan.argv),
                          pointers(plan.environment),
                          parent.get(),
                          null.get(),
                          console_end.get(),
                          report_end.get()};
  // As fork(2), which has no flags. Source: clone(2).
  pid_ = static_cast<pid_t>(syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0));
  if (pid_ == 0) keep(prepared);
  if (pid_ < 0) fail(plan.argv[0] + " in a PID namespace");
  setpgid(pid_, pid_);  // whoever is first
  pidfd_ = open_pidfd(pid_);
  if (!pidfd_) {
    const int error = errno;
    end_all();
    errno = error;
    fail(plan.argv[0]);
  }
}

void GuestProcess::end_all() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  // The first process of a namespace can only be waited for when all others are gone.
  while (wait4(pid_, &status_, 0, &used_) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

GuestProcess::~GuestProcess() { end_all(); }

GuestEnd GuestProcess::finish() {
  end_all();
  GuestEnd end;
  end.used = used_;
  Report report;
  while (read(report_.get(), &report, sizeof report) == static_cast<ssize_t>(sizeof report)) {
    if (report.what == Report::What::not_started) {
      throw RunError("guest",
                     fmt::format("linux.uml could not be started: {}: {}", report.step, errno_text(report.value)));
    }
    end.reported = true;
    if (WIFSIGNALED(report.value)) {
      end.signal = WTERMSIG(report.value);
    } else {
      end.exit_status = WEXITSTATUS(report.value);
    }
  }
  return end;
}

int choose_cpu() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return -1;
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0; --cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) return cpu;
  }
  return -1;
}

}  // namespace mongo::guest
