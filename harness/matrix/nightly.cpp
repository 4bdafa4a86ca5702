#include "harness/matrix/nightly.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <string_view>

#include "harness/core/descriptor.h"
#include "harness/core/errors.h"
#include "harness/core/quote.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

constexpr auto hook_deadline = std::chrono::minutes(10);

/// Why find_program does not take it, and what to do.
std::string why_no_program(const std::string& name) {
  struct stat info {};
  const bool there = stat(name.c_str(), &info) == 0;
  const int error = errno;
  const std::string shown = one_line(name);
  if (name.find('/') == std::string::npos) {
    return fmt::format("there is no program {} in PATH, /usr/local/sbin, /usr/sbin or /sbin{}", shown,
                       there ? fmt::format(". For the file in this folder give ./{}", shown) : "");
  }
  if (!there && error == ENOENT) return fmt::format("there is no program {}", shown);
  if (!there) return fmt::format("{} cannot be looked at: {}", shown, errno_text(error));
  if (S_ISDIR(info.st_mode)) return fmt::format("{} is a directory. Name a program in it", shown);
  if (!S_ISREG(info.st_mode)) return fmt::format("{} is no regular file. Name a program", shown);
  if ((info.st_mode & 0111) != 0) {
    return fmt::format("{} may not be run by this user, or its mount has the option noexec", shown);
  }
  return fmt::format("{} is not executable. Make it so: {}", shown, quote_argv({"chmod", "+x", name}));
}

/// The kernel starts no script without a first line that names its interpreter; a shell would. Source: execve(2).
bool can_be_started(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file) return true;  // a program that may be run and not read
  char first[4];
  const ssize_t size = read(file.get(), first, sizeof first);
  const std::string_view bytes(first, size < 0 ? 0 : static_cast<std::size_t>(size));
  return size < 0 || bytes.starts_with("#!") ||
         bytes ==
             "\x7f"
             "ELF";
}

/// Without "./" in it.
std::string tidy(std::string path) {
  for (std::size_t at = path.find("/./"); at != std::string::npos; at = path.find("/./")) path.erase(at, 2);
  return path;
}

const char* outcome_name(int status) {
  if (status == 0) return "ok";
  if (status == static_cast<int>(ExitStatus::incomplete)) return "incomplete";
  return status > 128 ? "interrupted" : "failed";
}

}  // namespace

std::optional<double> read_load() {
  double load = 0;
  if (getloadavg(&load, 1) != 1) return std::nullopt;
  return load;
}

std::string wait_until_idle(std::chrono::seconds patience, const InterruptWatch& watch,
                            const std::function<std::optional<double>()>& load, std::chrono::milliseconds between) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (true) {
    watch.check();
    const std::optional<double> now = load();
    if (!now) return "the load of this machine cannot be read: whether it is idle is not known";
    if (*now < idle_load) return "";
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left <= std::chrono::milliseconds(0)) {
      return fmt::format("the machine was not idle within {} minutes (load {:.2f}); going on all the same",
                         std::chrono::duration_cast<std::chrono::minutes>(patience).count(), *now);
    }
    pollfd polled{watch.descriptor(), POLLIN, 0};
    poll(&polled, 1, static_cast<int>(std::min(between, left).count()) + 1);
  }
}

std::string find_hook(const std::string& program) {
  const std::string found = find_program(program);
  if (found.empty()) throw UsageError("--hook: " + why_no_program(program));
  if (!can_be_started(found)) {
    throw UsageError(
        fmt::format("--hook: {} is neither a program nor a script that says what runs it. Let its first line be "
                    "#!/bin/sh, or what else it is written for",
                    one_line(found)));
  }
  char absolute[PATH_MAX];
  // The path, not what a link leads to: programs may look at their name.
  if (found.front() == '/' || realpath(".", absolute) == nullptr) return found;
  return tidy(fmt::format("{}/{}", absolute, found));
}

std::string call_hook(const std::string& program, const RunFolder& folder, const MatrixState& state, int exit_status,
                      ProcessRunner& runner) {
  const StatusCounts counts = count_cells(state.cells);
  const std::pair<const char*, std::string> variables[] = {
      {"MONGO_MATRIX_DIR", folder.path},
      {"MONGO_MATRIX_STATUS", outcome_name(exit_status)},
      {"MONGO_MATRIX_EXIT_STATUS", std::to_string(exit_status)},
      {"MONGO_MATRIX_CELLS", std::to_string(state.cells.size())},
      {"MONGO_MATRIX_OK", std::to_string(counts.ok)},
      {"MONGO_MATRIX_INCOMPLETE", std::to_string(counts.incomplete)},
      {"MONGO_MATRIX_FAILED", std::to_string(counts.failed)},
      {"MONGO_MATRIX_UNSUPPORTED", std::to_string(counts.unsupported)},
      {"MONGO_MATRIX_SKIPPED", std::to_string(counts.skipped)},
      {"MONGO_MATRIX_REASON", state.reason},
  };
  for (const auto& [name, value] : variables) setenv(name, value.c_str(), 1);
  std::string warning;
  try {
    const CommandResult result = runner.run({{program, folder.path, outcome_name(exit_status)}, hook_deadline});
    if (!result.ok()) {
      const std::string how = result.timed_out     ? fmt::format("did not end in {} minutes", hook_deadline.count())
                              : result.signal != 0 ? fmt::format("was killed by signal {}", result.signal)
                                                   : fmt::format("ended with status {}", result.exit_status);
      const std::string line = useful_line(result);
      warning = fmt::format("the hook {} {}{}", printable(program), how, line.empty() ? "" : ": " + one_line(line));
    }
  } catch (const Interrupted& interrupted) {
    warning = fmt::format("the hook {} was ended: {}", printable(program), interrupted.what());
  } catch (const RunError& error) {
    warning = fmt::format("the hook {} failed: {}", printable(program), error.what());
  }
  for (const auto& [name, value] : variables) unsetenv(name);
  return warning;
}

}  // namespace mongo
