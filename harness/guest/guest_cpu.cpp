#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "harness/guest/uml.h"

namespace mongo {
namespace {

/// The PID namespace that a process is in; 0 when it cannot be told.
ino_t namespace_of(const std::string& pid) {
  struct stat info {};
  return stat(("/proc/" + pid + "/ns/pid").c_str(), &info) == 0 ? info.st_ino : 0;
}

void add_times(const std::string& pid, GuestCpu& cpu) {
  std::ifstream in("/proc/" + pid + "/stat");
  std::string text;
  std::getline(in, text);
  // "pid (name) state ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime stime cutime cstime ...".
  // What ended children have used is in cutime and cstime of the one that waited for them. Source: proc(5).
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return;
  std::istringstream words(text.substr(name_end + 1));
  std::string passed;
  for (int i = 0; i < 11; ++i) words >> passed;
  double user = 0, system = 0, waited_user = 0, waited_system = 0;
  if (!(words >> user >> system >> waited_user >> waited_system)) return;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  cpu.user_seconds += (user + waited_user) / ticks;
  cpu.system_seconds += (system + waited_system) / ticks;
}

}  // namespace

GuestCpu read_guest_cpu(pid_t guest) {
  GuestCpu cpu;
  const ino_t wanted = namespace_of(std::to_string(guest));
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
  // linux.uml makes a session of its own, so that neither group nor session tells its processes.
  if (!folder || wanted == 0 || wanted == namespace_of("self")) return cpu;
  while (const dirent* entry = readdir(folder.get())) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) == 0) continue;
    if (namespace_of(entry->d_name) == wanted) add_times(entry->d_name, cpu);
  }
  return cpu;
}

}  // namespace mongo
