#include <dirent.h>
#include <sys/stat.h>

#include <cctype>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "harness/guest/uml.h"

namespace mongo {
namespace {

/// The PID namespace that a process is in; 0 when it cannot be told.
ino_t namespace_of(const std::string& pid) {
  struct stat info {};
  return stat(("/proc/" + pid + "/ns/pid").c_str(), &info) == 0 ? info.st_ino : 0;
}

std::vector<pid_t> processes_of(pid_t guest) {
  std::vector<pid_t> found;
  const ino_t wanted = namespace_of(std::to_string(guest));
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
  // linux.uml makes a session of its own, so that neither group nor session tells its processes.
  if (!folder || wanted == 0 || wanted == namespace_of("self")) return found;
  while (const dirent* entry = readdir(folder.get())) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) == 0) continue;
    if (namespace_of(entry->d_name) == wanted) found.push_back(std::atoi(entry->d_name));
  }
  return found;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

GuestCpu read_guest_cpu(pid_t guest) {
  GuestCpu cpu;
  const std::vector<pid_t> processes = processes_of(guest);
  cpu.first_second = now();
  for (const pid_t pid : processes) {
    clockid_t clock{};
    timespec used{};
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0) continue;
    cpu.seconds_of[pid] = static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
  }
  cpu.last_second = now();
  return cpu;
}

double GuestCpu::seconds() const {
  double sum = 0;
  for (const auto& [pid, seconds] : seconds_of) sum += seconds;
  return sum;
}

std::optional<double> cpu_between(const GuestCpu& before, const GuestCpu& after) {
  if (before.seconds_of.empty()) return std::nullopt;
  for (const auto& [pid, seconds] : before.seconds_of) {
    if (!after.seconds_of.contains(pid)) return std::nullopt;
  }
  return after.seconds() - before.seconds();
}

}  // namespace mongo
