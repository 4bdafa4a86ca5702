#include "harness/device/processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "harness/device/system_files.h"

namespace mongo {

namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
}

bool process_ended(int error) { return error == ENOENT || error == ESRCH; }

// The flags line of fdinfo is octal. Unknown counts as writing: the caller asks in order to refuse.
bool opened_for_writing(const std::string& fdinfo) {
  const devio::FileText info = devio::read_file(fdinfo);
  if (info.error != 0) return true;
  for (const std::string& line : devio::lines_of(info.text)) {
    if (!line.starts_with("flags:")) continue;
    const long flags = std::strtol(line.c_str() + 6, nullptr, 8);
    return (flags & O_ACCMODE) != O_RDONLY;
  }
  return true;
}

}  // namespace

Processes::Processes(std::string root, std::shared_ptr<const KernelView> kernel)
    : root_(std::move(root)), kernel_(std::move(kernel)) {
  while (!root_.empty() && root_.back() == '/') root_.pop_back();
}

std::string Processes::folder(int pid) const { return fmt::format("{}/proc/{}", root_, pid); }

std::vector<int> Processes::pids() const {
  std::vector<int> pids;
  for (const std::string& name : devio::list_names(root_ + "/proc").names) {
    if (is_number(name)) pids.push_back(std::stoi(name));
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

std::string Processes::program(int pid) const {
  return devio::printable(devio::trimmed(devio::read_file(folder(pid) + "/comm").text));
}

std::optional<std::uint64_t> Processes::start_time(int pid) const {
  const std::string text = devio::read_file(folder(pid) + "/stat").text;
  const std::size_t end = text.rfind(')');  // the program's name may hold anything
  if (end == std::string::npos) return std::nullopt;
  const std::vector<std::string> words = devio::words_of(text.substr(end + 1));  // from field 3 on
  if (words.size() < 20 || words[0] == "Z" || words[0] == "X") return std::nullopt;
  return std::strtoull(words[19].c_str(), nullptr, 10);
}

bool Processes::look_at_descriptors(int pid, const std::function<bool(const NodeStat&)>& wanted,
                                    ProcessUses& uses) const {
  const devio::Names descriptors = devio::list_names(folder(pid) + "/fd");
  if (descriptors.error == EACCES || descriptors.error == EPERM) {
    uses.hidden.push_back(pid);
  } else if (descriptors.error != 0 && !process_ended(descriptors.error)) {
    uses.error = descriptors.error;
  }
  const ProcessUse* found = nullptr;
  for (const std::string& name : descriptors.names) {
    // Asked by the name without the prefix: the made-up kernel of a test answers for the made-up tree.
    if (!wanted(kernel_->stat(fmt::format("/proc/{}/fd/{}", pid, name)))) continue;
    const bool writes = opened_for_writing(fmt::format("{}/fdinfo/{}", folder(pid), name));
    if (found == nullptr) {
      uses.found.push_back({pid, program(pid), "descriptor " + name, writes});
      found = &uses.found.back();
    } else if (writes) {
      uses.found.back().writes = true;
    }
  }
  return found != nullptr;
}

ProcessUses Processes::open_files(const std::function<bool(const NodeStat&)>& wanted) const {
  ProcessUses uses;
  for (const int pid : pids()) look_at_descriptors(pid, wanted, uses);
  return uses;
}

bool Processes::maps_file_system(int pid, dev_t device) const {
  // address perms offset major:minor inode path, device numbers in hexadecimal
  for (const std::string& line : devio::lines_of(devio::read_file(folder(pid) + "/maps").text)) {
    const std::vector<std::string> words = devio::words_of(line);
    unsigned major = 0, minor = 0;
    if (words.size() > 4 && std::sscanf(words[3].c_str(), "%x:%x", &major, &minor) == 2 && words[4] != "0" &&
        makedev(major, minor) == device) {
      return true;
    }
  }
  return false;
}

ProcessUses Processes::users_of_file_system(dev_t device) const {
  const auto on_it = [&](const NodeStat& node) { return node.error == 0 && node.device == device; };
  ProcessUses uses;
  for (const int pid : pids()) {
    const std::pair<const char*, const char*> links[] = {
        {"cwd", "working directory"}, {"root", "root directory"}, {"exe", "program"}};
    bool found = false;
    for (const auto& [link, how] : links) {
      if (found || !on_it(kernel_->stat(fmt::format("/proc/{}/{}", pid, link)))) continue;
      uses.found.push_back({pid, program(pid), how, false});
      found = true;
    }
    found = found || look_at_descriptors(pid, on_it, uses);
    if (!found && maps_file_system(pid, device)) uses.found.push_back({pid, program(pid), "mapped file", false});
  }
  return uses;
}

std::vector<int> Processes::own_line() const {
  std::vector<int> line;
  if (!root_.empty()) return line;
  int pid = static_cast<int>(getpid());
  while (pid > 0 && line.size() < 64) {
    line.push_back(pid);
    // "pid (comm) state ppid ...", where comm may hold anything, parentheses too
    const std::string text = devio::read_file(folder(pid) + "/stat").text;
    const std::size_t end = text.rfind(')');
    if (end == std::string::npos) break;
    const std::vector<std::string> words = devio::words_of(text.substr(end + 1));
    if (words.size() < 2 || !is_number(words[1])) break;
    pid = std::stoi(words[1]);
  }
  return line;
}

std::string list_uses(const std::vector<ProcessUse>& uses) {
  constexpr std::size_t most = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(uses.size(), most); ++i) {
    text += fmt::format("{}pid {} ({}: {})", i == 0 ? "" : ", ", uses[i].pid, uses[i].program, uses[i].how);
  }
  if (uses.size() > most) text += fmt::format(" and {} more", uses.size() - most);
  return text;
}

}  // namespace mongo
