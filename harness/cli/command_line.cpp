#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <sstream>

#include "harness/cli/command.h"
#include "harness/core/errors.h"

namespace mongo {
namespace {

constexpr const char* exit_statuses =
    "Exit status: 0 all well; 1 something failed; 2 usage; 3 device or mount point refused;\n"
    "4 file system not available here; 5 finished but incomplete (disk or inodes full);\n"
    "6 matrix only: another process is at this run or holds the lock;\n"
    "128 + the signal's number when interrupted.";

}  // namespace

const std::vector<CommandEntry>& commands() {
  static const std::vector<CommandEntry> all{
      {"run", add_run_command},         {"matrix", add_matrix_command},   {"status", add_status_command},
      {"compare", add_compare_command}, {"devices", add_devices_command}, {"doctor", add_doctor_command},
      {"cleanup", add_cleanup_command},
  };
  return all;
}

int run_command_line(int argc, char** argv, CommandContext& context) {
  CLI::App app{"mongo: formats a block device, runs the phases of a file system benchmark on it, and tells the truth."};
  app.name("mongo");
  app.set_version_flag("--version", std::string("mongo ") + MONGO_VERSION);
  app.require_subcommand(1);
  app.footer(std::string("Examples:\n"
                         "  mongo run ext3 /dev/sdb1 /work1 logext3 1\n"
                         "  mongo run xfs ram:2GiB /mnt/mongo logxfs 4 --profile smoke\n"
                         "  mongo compare results/logext3.jsonl results/logxfs.jsonl\n\n") +
             exit_statuses + "\n\n`mongo COMMAND --help` tells more.");
  CommandBody chosen;
  std::vector<CommandBody> bodies;
  for (const CommandEntry& entry : commands()) bodies.push_back(entry.add(app));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 prints help and version through the same door as errors; its own statuses are not ours.
    std::ostringstream out, err;
    const int status = app.exit(error, out, err);
    if (status == 0) {
      context.console.out(out.str());
      return 0;
    }
    std::string text = error.what();
    if (argc < 2) text += "\n" + app.help();
    std::string command = "mongo";
    for (const CLI::App* sub : app.get_subcommands()) command += " " + sub->get_name();
    throw UsageError(text + "\nTry: " + command + " --help");
  }
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (app.got_subcommand(commands()[i].name)) return bodies[i](context);
  }
  throw UsageError("no command was given");
}

}  // namespace mongo
