#include "harness/matrix/nightly.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <climits>
#include <cstdlib>

#include "harness/core/errors.h"
#include "harness/core/quote.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

constexpr auto hook_deadline = std::chrono::minutes(10);

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
  if (found.empty()) throw UsageError(fmt::format("--hook: there is no program {}", one_line(program)));
  char absolute[PATH_MAX];
  // The path, not what a link leads to: programs may look at their name.
  if (found.front() == '/' || realpath(".", absolute) == nullptr) return found;
  return fmt::format("{}/{}", absolute, found);
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
