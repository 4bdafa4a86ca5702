#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "harness/core/descriptor.h"
#include "harness/core/errors.h"
#include "harness/core/interrupt.h"
#include "harness/guest/init.h"
#include "harness/guest/uml.h"

// As init of a guest it does what its arguments say. Elsewhere it is a tool that runs such a guest:
//   guest_probe FOLDER DEVICE FILESYSTEM ARGUMENT...
// prints what the guest told, and ends with 0, 1 or 128 + the signal that interrupted it.

namespace {

using namespace mongo;

void create_file(const std::string& path, std::size_t size) {
  std::ofstream(path, std::ios::binary) << std::string(size, 'x');
}

std::string fibmap(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  int block = 0;
  if (ioctl(file.get(), FIBMAP, &block) != 0) return errno_name(errno);
  return block > 0 ? "block" : "none";
}

/// Mounts, makes files, mounts again and counts them.
void count_files(const GuestJob& job, const std::string& type, int files) {
  const auto mount_it = [&] {
    if (mount(job.device.c_str(), job.mount_point.c_str(), type.c_str(), 0, nullptr) != 0) {
      throw RunError("mount", errno_text(errno));
    }
  };
  const auto unmount = [&] {
    if (umount(job.mount_point.c_str()) != 0) throw RunError("unmount", errno_text(errno));
  };
  mount_it();
  for (int i = 0; i < files; ++i) create_file(fmt::format("{}/file{}", job.mount_point, i), 65536);
  unmount();
  mount_it();
  int found = 0;
  DIR* folder = opendir(job.mount_point.c_str());
  while (const dirent* entry = readdir(folder)) found += std::string(entry->d_name).starts_with("file") ? 1 : 0;
  closedir(folder);
  tell_host(fmt::format("files {} fibmap {}", found, fibmap(job.mount_point + "/file0")));
  unmount();
}

[[noreturn]] void spin() {
  for (;;) getppid();  // keeps both the process and the guest's kernel busy
}

int work(const GuestJob& job) {
  const std::string what = job.arguments.at(0);
  const Descriptor held(what == "hold" ? open(job.device.c_str(), O_RDWR | O_CLOEXEC) : -1);
  tell_host("started " + what);
  if (what == "ok") return 0;
  if (what == "status") return std::stoi(job.arguments.at(1));
  if (what == "fail") throw std::runtime_error(job.arguments.at(1));
  if (what == "crash") raise(SIGSEGV);
  if (what == "panic") std::ofstream("/proc/sysrq-trigger") << "c";
  if (what == "write") {
    std::ofstream(job.folder + "/" + job.arguments.at(1)) << job.arguments.at(2);
    // Nothing else of the host can be changed.
    for (const std::string& path : {job.arguments.at(3) + "/made", std::string("/etc/mongo-made")}) {
      if (std::ofstream(path).is_open()) return 1;
    }
    return 0;
  }
  if (what == "count") {
    count_files(job, job.arguments.at(1), std::stoi(job.arguments.at(2)));
    return 0;
  }
  if (what == "burn") {
    const clock_t end = clock() + std::stoi(job.arguments.at(1)) * CLOCKS_PER_SEC;
    while (clock() < end) {
    }
    tell_host("burnt");
    usleep(500'000);  // what has ended cannot be read any more
    return 0;
  }
  if (what == "spin") {
    for (int i = 0; i < 3; ++i) {
      if (fork() == 0) spin();
    }
    spin();
  }
  for (;;) pause();  // "hang", "hold"
}

int run_tool(int argc, char** argv) {
  InterruptWatch watch;
  GuestRequest request;
  request.folder = argv[1];
  request.device = argv[2];
  request.filesystem = argv[3];
  request.arguments.assign(argv + 4, argv + argc);
  request.memory_mib = 128;
  request.deadline = std::chrono::seconds(60);
  request.on_line = [](const std::string& line, pid_t guest) {
    fmt::print("{} {}\n", guest, line);
    fflush(stdout);
  };
  try {
    const GuestResult result = run_guest(request, watch);
    if (!result.ok()) fmt::print(stderr, "{}\n{}", result.failure, result.console);
    fmt::print("{:.3f} s, user {:.3f} s, system {:.3f} s\n", result.seconds, result.cpu_user_seconds,
               result.cpu_system_seconds);
    return result.ok() ? 0 : 1;
  } catch (const Interrupted& interrupted) {
    return 128 + interrupted.signal_number();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (mongo::is_guest_init()) {
    if (argc > 1 && std::string(argv[1]) == ":leave") return 3;  // init must not, and the kernel panics
    mongo::guest_main(work);
  }
  if (argc < 5) return 2;
  return run_tool(argc, argv);
}
