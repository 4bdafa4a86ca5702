#include "harness/guest/init.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "harness/core/descriptor.h"
#include "harness/core/errors.h"
#include "harness/guest/protocol.h"
#include "harness/guest/words.h"

namespace mongo {
namespace {

using namespace guest;

constexpr const char* own_folder = "/run/mongo-guest";
constexpr long hostfs_magic = 0x00c0ffee;  // fs/hostfs/hostfs_kern.c
constexpr std::size_t longest_message = 3000;

std::string word(const char* name) {
  const char* value = getenv(name);
  return value != nullptr ? value : "";
}

void mount_or_throw(const char* type, const std::string& point, unsigned long flags = 0,
                    const char* options = nullptr) {
  // EBUSY: the kernel has mounted its devices itself.
  if (mount(type, point.c_str(), type, flags, options) != 0 && errno != EBUSY) {
    throw std::runtime_error(fmt::format("mount -t {} on {}: {}", type, point, errno_text(errno)));
  }
}

void make_directory(const std::string& path) {
  if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) throw std::runtime_error(path + ": " + errno_text(errno));
}

void write_all(int fd, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t size = write(fd, text.data() + done, text.size() - done);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;
    done += static_cast<std::size_t>(size);
  }
}

/// The folders of the host that these hide are not needed any more: this program and its libraries are open.
void mount_folders(const GuestJob& job) {
  mount_or_throw("proc", "/proc");
  mount_or_throw("sysfs", "/sys");
  mount_or_throw("devtmpfs", "/dev");
  make_directory("/dev/shm");
  mount_or_throw("tmpfs", "/dev/shm", MS_NOSUID | MS_NODEV);
  mount_or_throw("tmpfs", "/run", MS_NOSUID | MS_NODEV, "mode=0755");
  mount_or_throw("tmpfs", "/tmp", MS_NOSUID | MS_NODEV, "mode=1777");
  make_directory(own_folder);
  make_directory(job.folder);
  make_directory(job.mount_point);
  mount_or_throw("hostfs", job.folder, MS_NOSUID | MS_NODEV, word(folder_word).c_str());
}

void load_modules() {
  std::istringstream files(word(modules_word));
  for (std::string file; std::getline(files, file, ':');) {
    const Descriptor module(open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!module) throw std::runtime_error(file + ": " + errno_text(errno));
    if (syscall(SYS_finit_module, module.get(), "", 0) != 0 && errno != EEXIST) {
      throw std::runtime_error(fmt::format("the module {} cannot be loaded: {}", file, errno_text(errno)));
    }
  }
}

/// name: of the device on the host.
void require_device(const std::string& device, const std::string& name) {
  const Descriptor fd(open(device.c_str(), O_RDWR | O_CLOEXEC));
  // linux.uml locks what it opens.
  if (!fd && errno == EAGAIN) throw std::runtime_error(name + " is in use by another guest");
  if (!fd) throw std::runtime_error(fmt::format("{} cannot be opened in the guest: {}", name, errno_text(errno)));
}

/// The words after the program's name. /proc must be there.
std::vector<std::string> own_arguments() {
  std::vector<std::string> arguments;
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::string argument;
  std::getline(in, argument, '\0');
  while (std::getline(in, argument, '\0')) arguments.push_back(decode(argument));
  return arguments;
}

struct Outcome {
  int status = 1;
  std::string message;
};

[[noreturn]] void work_and_exit(const std::function<int(const GuestJob&)>& work, const GuestJob& job, int report) {
  int status = 1;
  std::string message;
  try {
    status = work(job);
  } catch (const std::exception& error) {
    message = error.what();
  } catch (...) {
    message = "the work in the guest threw something unknown";
  }
  write_all(report, message.substr(0, longest_message));  // less than a pipe holds
  fflush(nullptr);
  _exit(status);
}

/// In a process of its own: a crash of init is a panic.
Outcome run_work(const std::function<int(const GuestJob&)>& work, const GuestJob& job) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) throw std::runtime_error("pipe: " + errno_text(errno));
  const Descriptor reading(report[0]);
  pid_t pid = -1;
  {
    const Descriptor writing(report[1]);
    pid = fork();
    if (pid == 0) work_and_exit(work, job, writing.get());
  }
  if (pid < 0) throw std::runtime_error("fork: " + errno_text(errno));
  int status = 0;
  for (pid_t ended = 0; ended != pid;) {
    int one = 0;
    ended = wait(&one);  // init gets everybody's orphans
    if (ended == pid) status = one;
    if (ended < 0 && errno != EINTR) throw std::runtime_error("wait: " + errno_text(errno));
  }
  kill(-1, SIGKILL);  // what it left behind; never init itself
  Outcome outcome;
  if (WIFSIGNALED(status)) {
    outcome.status = 128 + WTERMSIG(status);
    outcome.message =
        fmt::format("the work in the guest was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return outcome;
  }
  outcome.status = WEXITSTATUS(status);
  char buffer[longest_message];
  const ssize_t size = read(reading.get(), buffer, sizeof buffer);
  if (size > 0) outcome.message.assign(buffer, static_cast<std::size_t>(size));
  return outcome;
}

void write_status(const std::string& folder, const Outcome& outcome) {
  const std::string name = folder + "/" + status_file, part = name + ".part";
  const Descriptor file(open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file) throw std::runtime_error(part + ": " + errno_text(errno));
  write_all(file.get(), fmt::format("{}\n{}", outcome.status, outcome.message));
  if (fsync(file.get()) != 0 || rename(part.c_str(), name.c_str()) != 0) {
    throw std::runtime_error(name + ": " + errno_text(errno));
  }
}

}  // namespace

bool is_guest_init() {
  struct statfs root {};
  return getpid() == 1 && word(boot_word) == "1" && statfs("/", &root) == 0 && root.f_type == hostfs_magic;
}

void tell_host(const std::string& line) {
  // The kernel may have printed a part of a line; nobody misses an empty one.
  std::string text = std::string("\n") + line_prefix + line;
  std::replace(text.begin() + 1, text.end(), '\n', ' ');
  const Descriptor console(open("/dev/console", O_WRONLY | O_NOCTTY | O_CLOEXEC));
  if (console) write_all(console.get(), text + "\n");
}

void guest_main(const std::function<int(const GuestJob& job)>& work) {
  GuestJob job;
  job.folder = std::string(own_folder) + "/folder";
  job.mount_point = std::string(own_folder) + "/mnt";
  try {
    mount_folders(job);
    Outcome outcome;
    try {
      const std::string device_name = decode(word(device_word));
      if (!device_name.empty()) job.device = device_in_guest;
      job.arguments = own_arguments();
      load_modules();
      if (!job.device.empty()) require_device(job.device, device_name);
      outcome = run_work(work, job);
    } catch (const std::exception& error) {
      outcome.message = error.what();
    }
    sync();
    write_status(job.folder, outcome);
  } catch (const std::exception& error) {
    // The host finds no status and shows the last line.
    fmt::print(stderr, "{}\n", error.what());
  }
  sync();
  reboot(RB_POWER_OFF);
  _exit(1);  // a panic, which the host sees
}

}  // namespace mongo
