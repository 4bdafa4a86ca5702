#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>

#include "harness/cli/command.h"
#include "harness/core/errors.h"
#include "harness/device/journal.h"

namespace mongo {
namespace {

int cleanup(CommandContext& context) {
  if (geteuid() != 0)
    throw Error(ExitStatus::failed, "undoing what runs left needs root. Run the same command as root");
  const CleanupReport report = clean_up(state_folder(), std::chrono::minutes(1));
  for (const std::string& text : report.undone) context.console.out(text + "\n");
  for (const std::string& path : report.running)
    context.console.out(fmt::format("left alone: the run of {} is at work\n", path));
  for (const std::string& text : report.left) context.console.error("not undone: " + text);
  if (report.undone.empty() && report.left.empty() && report.running.empty()) context.console.out("nothing was left\n");
  return static_cast<int>(report.left.empty() ? ExitStatus::ok : ExitStatus::failed);
}

}  // namespace

CommandBody add_cleanup_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("cleanup", "Undo what a killed run left: mounts, loop devices, directories, processes.");
  command->footer(
      "Example:\n  mongo cleanup\n\nOnly what a journal in /var/lib/mongo (or $MONGO_STATE) proves to be a run's own "
      "is touched. Every\n"
      "run does the same at its start. Exit status 1 when something could not be undone.");
  return [](CommandContext& context) { return cleanup(context); };
}

}  // namespace mongo
