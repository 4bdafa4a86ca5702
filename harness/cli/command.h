#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <vector>

#include "harness/cli/console.h"
#include "harness/core/interrupt.h"

namespace mongo {

/// What every subcommand gets.
struct CommandContext {
  Console& console;
  InterruptWatch& watch;
};

/// A subcommand: adds itself to the parser and returns what runs it, which returns the exit status.
using CommandBody = std::function<int(CommandContext&)>;
struct CommandEntry {
  const char* name;
  CommandBody (*add)(CLI::App& app);
};

CommandBody add_run_command(CLI::App& app);      // command_run.cpp
CommandBody add_matrix_command(CLI::App& app);   // command_matrix.cpp
CommandBody add_status_command(CLI::App& app);   // command_status.cpp
CommandBody add_compare_command(CLI::App& app);  // command_compare.cpp
CommandBody add_devices_command(CLI::App& app);  // command_devices.cpp
CommandBody add_doctor_command(CLI::App& app);   // command_doctor.cpp
CommandBody add_cleanup_command(CLI::App& app);  // command_cleanup.cpp

/// The subcommands, in the order of --help.
const std::vector<CommandEntry>& commands();

/// Reads the arguments and runs the subcommand. Returns the exit status; throws what the subcommand throws.
int run_command_line(int argc, char** argv, CommandContext& context);

}  // namespace mongo
