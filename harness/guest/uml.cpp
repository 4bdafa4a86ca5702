#include "harness/guest/uml.h"

#include <fmt/format.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "harness/core/errors.h"
#include "harness/core/quote.h"
#include "harness/guest/guest_console.h"
#include "harness/guest/guest_modules.h"
#include "harness/guest/guest_mounts.h"
#include "harness/guest/guest_process.h"
#include "harness/guest/protocol.h"
#include "harness/guest/words.h"
#include "harness/process/runner.h"

namespace mongo {
namespace {

using namespace guest;
using Clock = std::chrono::steady_clock;

[[noreturn]] void refuse(const std::string& why) { throw RunError("guest", why); }

/// Files and folders of the host that the guest gets as descriptors: a path may hold anything, and the kernel's command
/// line may not.
struct Openings {
  Descriptor folder, device, memory;
};

Openings open_all(const GuestRequest& request) {
  Openings opened;
  opened.folder = open_apart(request.folder);
  if (!opened.folder) refuse(fmt::format("the folder {}: {}", printable(request.folder), errno_text(errno)));
  if (!request.device.empty()) {
    opened.device = open_apart(request.device);
    if (!opened.device) refuse(fmt::format("the device {}: {}", printable(request.device), errno_text(errno)));
  }
  // Some room for the socket and the pid file that linux.uml makes.
  opened.memory = memory_folder(request.memory_mib + 16);
  if (!opened.memory) refuse("no file system in memory can be made: " + errno_text(errno));
  return opened;
}

void require_memory(unsigned mib) {
  std::ifstream in("/proc/meminfo");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name;
    unsigned long long kib = 0;
    if (words >> name >> kib && name == "MemAvailable:" && kib / 1024 < mib) {
      refuse(fmt::format("the guest needs {} MiB of memory, and {} MiB are free", mib, kib / 1024));
    }
  }
}

std::string path_of_this_program() {
  char path[PATH_MAX];
  return realpath("/proc/self/exe", path) == nullptr ? "" : path;
}

/// From before main(): in a chroot, the link leads nowhere as soon as the process has a mount namespace of its own.
const std::string this_program = path_of_this_program();

std::string init_program(const GuestRequest& request) {
  const std::string& program = request.program.empty() ? this_program : request.program;
  if (program.empty()) refuse("/proc/self/exe could not be resolved. Is /proc mounted?");
  if (program[0] != '/' || printable(program) != program || program.find('"') != std::string::npos) {
    refuse(fmt::format("{} cannot be the guest's init: an absolute path without control characters and \" is needed",
                       printable(program)));
  }
  if (access(program.c_str(), X_OK) != 0) refuse(program + ": " + errno_text(errno));
  return program;
}

std::string inherited(const Descriptor& descriptor) { return fmt::format("/proc/self/fd/{}", descriptor.get()); }

GuestProcess::Plan make_plan(const GuestRequest& request, const Openings& opened) {
  GuestProcess::Plan plan;
  plan.cpu = choose_cpu();
  plan.kept = {opened.folder.get(), opened.memory.get()};
  plan.environment = {"LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/", "TMPDIR=" + inherited(opened.memory)};
  plan.argv = {find_program("linux.uml"), fmt::format("mem={}M", request.memory_mib),
               "uml_dir=" + inherited(opened.memory) + "/", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro",
               "quiet", "con=null", "con0=fd:0,fd:1",
               // Otherwise linux.uml puts it at the end, where it becomes a word of init.
               "console=tty0", fmt::format("{}=1", boot_word),
               // Without "/." hostfs takes it for a link and reads where it leads, which is not by this mount.
               fmt::format("{}={}/.", folder_word, inherited(opened.folder)), "LC_ALL=C",
               "PATH=/usr/sbin:/usr/bin:/sbin:/bin", fmt::format("init=\"{}\"", init_program(request))};
  if (opened.device) {
    plan.kept.push_back(opened.device.get());
    plan.argv.push_back(fmt::format("{}={}", device_word, encode(request.device)));
    // d: what is on it is data, even if it looks like a copy-on-write file of linux.uml.
    plan.argv.push_back("ubd0d=" + inherited(opened.device));
  }
  std::string modules;
  for (const std::string& file :
       request.filesystem.empty() ? std::vector<std::string>() : module_files(request.filesystem)) {
    modules += (modules.empty() ? "" : ":") + file;
  }
  if (!modules.empty()) plan.argv.push_back(fmt::format("{}={}", modules_word, modules));
  plan.argv.push_back("--");
  for (const std::string& argument : request.arguments) plan.argv.push_back(encode(argument));
  std::size_t length = 0;
  for (const std::string& word : plan.argv) length += word.size() + 1;
  if (request.arguments.size() > most_init_words || length > most_command_line) {
    refuse("too many or too long arguments for the guest's command line");
  }
  return plan;
}

struct Status {
  int status = -1;  // -1: none
  std::string message;
};

Status read_status(const std::string& file) {
  Status status;
  std::ifstream in(file, std::ios::binary);
  if (!(in >> status.status)) return {};
  in.get();
  std::ostringstream message;
  message << in.rdbuf();
  status.message = printable(message.str());
  return status;
}

/// What happened, from the most telling of what is known.
std::string why_failed(const Status& status, const GuestEnd& end, const GuestConsole& console) {
  if (status.status == 0) return "";
  if (status.status > 0) {
    if (!status.message.empty()) return status.message;
    return fmt::format("the work in the guest ended with status {}", status.status);
  }
  if (!console.panic().empty()) return "the guest's kernel panicked: " + console.panic();
  std::string what = "the guest ended without a status";
  if (!end.reported) {
    what = "the guest was killed";
  } else if (end.signal != 0) {
    what = fmt::format("the guest was ended by signal {} ({})", end.signal, strsignal(end.signal));
  } else if (end.exit_status != 0) {
    what = fmt::format("linux.uml ended with exit status {} and no status of the work", end.exit_status);
  }
  return console.last_line().empty() ? what : what + "; the last line that it printed: " + console.last_line();
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// Reads all that is there now.
void read_console(int fd, GuestConsole& console) {
  char buffer[16384];
  for (ssize_t size = 0; (size = read(fd, buffer, sizeof buffer)) > 0;) {
    console.add(buffer, static_cast<std::size_t>(size));
  }
}

/// Until the guest has ended or has to be ended. Returns whether the deadline passed.
bool watch_guest(const GuestProcess& process, GuestConsole& console, const InterruptWatch& watch,
                 Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return true;
    pollfd fds[] = {{process.console(), POLLIN, 0}, {process.ended(), POLLIN, 0}, {watch.descriptor(), POLLIN, 0}};
    // A console at its end is readable for ever; it has an end only when the guest has.
    if (poll(fds, 3, static_cast<int>(std::min<long long>(left, 60'000))) < 0 && errno != EINTR) {
      refuse("poll: " + errno_text(errno));
    }
    watch.check();
    read_console(process.console(), console);
    if (fds[1].revents != 0) return false;
  }
}

}  // namespace

GuestResult run_guest(const GuestRequest& request, const InterruptWatch& watch) {
  watch.check();
  if (find_program("linux.uml").empty()) refuse(why_no_guest().value_or("linux.uml: no such program"));
  require_memory(request.memory_mib);
  const std::string status_path = request.folder + "/" + status_file;
  if (unlink(status_path.c_str()) != 0 && errno != ENOENT) refuse(status_path + ": " + errno_text(errno));
  GuestResult result;
  const auto start = Clock::now();
  GuestEnd end;
  bool too_late = false;
  pid_t pid = -1;
  GuestConsole console([&](const std::string& line) {
    if (request.on_line) request.on_line(line, pid);
  });
  {
    const Openings opened = open_all(request);
    const GuestProcess::Plan plan = make_plan(request, opened);
    result.cpu = plan.cpu;
    GuestProcess process(plan);
    pid = process.pid();
    too_late = watch_guest(process, console, watch, start + request.deadline);
    end = process.finish();
    // After its end, so that nothing is missing.
    read_console(process.console(), console);
    console.end();
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  result.cpu_user_seconds = seconds_of(end.used.ru_utime);
  result.cpu_system_seconds = seconds_of(end.used.ru_stime);
  result.console = console.tail();
  if (too_late) {
    result.failure = fmt::format("the guest did not end within {:g} s and was killed",
                                 std::chrono::duration<double>(request.deadline).count());
    if (!console.last_line().empty()) result.failure += "; the last line that it printed: " + console.last_line();
  } else {
    result.failure = why_failed(read_status(status_path), end, console);
  }
  return result;
}

}  // namespace mongo
