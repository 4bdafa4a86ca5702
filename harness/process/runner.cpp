#include "harness/process/runner.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "harness/core/errors.h"
#include "harness/core/quote.h"

namespace mongo {
namespace {

bool is_program(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

std::string search_path() {
  const char* path = getenv("PATH");
  return path != nullptr ? path : "/usr/bin:/bin";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    std::string line = text.substr(start, end - start);
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string::npos) {
      const std::string words = line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
      // An indented line goes on with the sentence before, as mke2fs breaks them.
      if (first > 0 && !lines.empty()) {
        lines.back() += " " + words;
      } else {
        lines.push_back(words);
      }
    }
    start = end + 1;
  }
  return lines;
}

/// The last line before a usage text, which many programs print after, and some before, what was wrong.
std::string last_useful(const std::string& text) {
  std::string best;
  bool in_usage = false;
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with("Usage:") || line.starts_with("usage:")) in_usage = true;
    if (in_usage) continue;
    // "See 'mkfs.x --help'" and the like follow the reason.
    if (line.find("--help") != std::string::npos) continue;
    best = line;
  }
  return best;
}

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_program(name) ? name : "";
  std::string folders = search_path();
  folders += ":/usr/local/sbin:/usr/sbin:/sbin";
  std::size_t start = 0;
  while (start <= folders.size()) {
    const std::size_t end = std::min(folders.find(':', start), folders.size());
    const std::string folder = folders.substr(start, end - start);
    // An empty entry would mean the current folder: not for a program that runs as root.
    if (!folder.empty() && folder[0] == '/' && is_program(folder + "/" + name)) return folder + "/" + name;
    start = end + 1;
  }
  return "";
}

std::string not_found_text(const std::string& name) {
  return fmt::format("the program {} is not in PATH ({}), /usr/local/sbin, /usr/sbin or /sbin", name, search_path());
}

std::string useful_line(const CommandResult& result) {
  // mkfs.xfs prints its reason, then its usage; the first thing said is the reason there.
  for (const std::string* text : {&result.err, &result.out}) {
    if (const std::string line = last_useful(*text); !line.empty()) return line;
  }
  return "";
}

CommandResult run_checked(ProcessRunner& runner, const Command& command, const std::string& step) {
  CommandResult result = runner.run(command);
  if (result.ok()) return result;
  std::string what;
  if (result.timed_out) {
    what = fmt::format("was ended after its deadline of {} s",
                       std::chrono::duration_cast<std::chrono::seconds>(command.deadline).count());
  } else if (result.signal != 0) {
    what = fmt::format("was ended by signal {} ({})", result.signal, strsignal(result.signal));
  } else {
    what = fmt::format("failed with exit status {}", result.exit_status);
  }
  std::string line = useful_line(result);
  while (line.ends_with('.')) line.pop_back();
  throw RunError(
      step, fmt::format("{}{}. The command was: {}", what, line.empty() ? "" : ": " + line, quote_argv(command.argv)));
}

}  // namespace mongo
