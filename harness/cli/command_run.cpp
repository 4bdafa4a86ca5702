#include <fmt/format.h>
#include <signal.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <type_traits>
#include <variant>

#include "fsdrivers/catalogue.h"
#include "harness/cli/command.h"
#include "harness/cli/text_observer.h"
#include "harness/core/errors.h"
#include "harness/core/quote.h"
#include "harness/device/guard.h"
#include "harness/device/loop.h"
#include "harness/device/loop_check.h"
#include "harness/device/mount.h"
#include "harness/plan/run_options.h"
#include "harness/process/runner.h"
#include "harness/report/append.h"
#include "harness/report/record_json.h"
#include "harness/run/availability.h"
#include "harness/run/cell_runner.h"
#include "harness/run/directory_run.h"
#include "phases/catalogue.h"

namespace mongo {
namespace {

struct RunArguments {
  RunRequest request;
  bool dry_run = false, json = false, quiet = false;
};

std::string footer() {
  std::string text = "File systems:\n";
  for (const auto& driver : fsdrivers::catalogue()) text += fmt::format("  {:<9} {}\n", driver.name, driver.summary);
  text += "\nProfiles:\n";
  for (const Profile& profile : profiles()) text += fmt::format("  {:<9} {}\n", profile.name, profile.summary);
  text += "\nPhases:\n";
  for (const phases::Phase* phase : phases::catalogue())
    text += fmt::format("  {:<9} {}\n", phase->name, phase->summary);
  return text +
         "\nExamples:\n"
         "  mongo run ext3 /dev/sdb1 /work1 logext3 1\n"
         "  mongo run xfs loop:4GiB /mnt/mongo logxfs 2 --profile ltp\n"
         "  mongo run ext4 ram:2GiB /mnt/mongo try 1 --profile smoke --phases create,read,delete\n"
         "  mongo run ext3 /dev/sdb1 /work1 ordered 1 --mkfs-options '-N 400000' --mount-options data=ordered,noatime\n"
         "\nA device that holds anything but what this tool made is refused (status 3) unless --destroy is given.";
}

/// What a run would say to DEVICE, without a change to it.
void check_device(const Cell& cell) {
  GuardOptions options;
  options.destroy = cell.destroy;
  options.keep_paths = {cell.results, "/proc/self/exe"};
  if (cell.device.kind == DeviceSpec::Kind::block) {
    const Guard guard(options);
    guard.require(guard.resolve(cell.device.path));
  } else {
    LoopOptions loop;
    loop.preallocate = !cell.sparse;
    loop.sector_size = cell.sector_size;
    check_loop_spec(cell.device, options, loop);
  }
}

/// Prints the plan, then what a run would say to the host and the device, in the order of a run; touches neither.
int dry_run(const Cell& cell, CommandContext& context) {
  check_options(cell);
  context.console.out(describe_cell(cell));
  const ChosenEnvironment chosen = choose_environment(cell, nullptr);
  if (chosen.why_not) throw Unsupported(*chosen.why_not);
  if (const auto why = why_no_root(*cell.driver)) throw Error(ExitStatus::failed, *why);
  if (cell.driver->existing_directory) {
    check_directory(cell.mount_point);
  } else {
    MountPoint::check(cell.mount_point);
    check_device(cell);
  }
  check_results_without_writing(cell.results, cell.log);
  return 0;
}

/// "ext4 on /dev/sdb1", "dir on /srv/nfs".
std::string what_ran(const Cell& cell) {
  return fmt::format("{} on {}", cell.driver->name,
                     printable(cell.driver->existing_directory ? cell.mount_point : cell.device.given));
}

int run(const RunArguments& arguments, CommandContext& context) {
  check_log_name(arguments.request.log);
  const Cell cell = resolve(arguments.request);
  if (arguments.dry_run) return dry_run(cell, context);

  RealRunner runner(&context.watch);
  TextObserver observer(context.console, !arguments.quiet && !arguments.json, !arguments.quiet);
  const RunRecord record = run_cell(cell, {runner, context.watch, observer});
  context.console.clear_status_line();
  int status = exit_status(record, context.watch);
  bool added = false;
  try {
    append_run(cell.results, cell.log, record);
    added = true;
  } catch (const Error& error) {
    // Hours of work must not be lost to a full results disk.
    context.console.error(std::string(error.what()) + "\nThe record is:\n" + to_json_line(record));
    status = static_cast<int>(ExitStatus::failed);
  }
  if (arguments.json) {
    context.console.out(to_json_line(record) + "\n");
  } else if (!arguments.quiet && added) {
    context.console.out(fmt::format("results: {0}/{1}, {1}.tbl, {1}_table, {1}.jsonl\n", cell.results, cell.log));
  }
  if (record.status != Status::ok) {
    context.console.error(fmt::format("{}: {}: {}", what_ran(cell), status_name(record.status), record.reason));
  }
  return status;
}

}  // namespace

CommandBody add_run_command(CLI::App& app) {
  auto arguments = std::make_shared<RunArguments>();
  RunRequest& request = arguments->request;
  CLI::App* command =
      app.add_subcommand("run", "Format a device, mount it, run the phases, unmount, append to the results.");
  for (const RunOption& option : run_options()) {
    std::visit(
        [&](const auto member) {
          if constexpr (std::is_same_v<decltype(request.*member), bool&>) {
            command->add_flag((option.inverted ? "!" : "") + option.name, request.*member, option.help);
          } else {
            command->add_option(option.name, request.*member, option.help)->required(option.is_argument());
          }
        },
        option.member);
  }
  CLI::Option* dry_run_flag =
      command->add_flag("--dry-run", arguments->dry_run, "print the cell and every command; touch nothing");
  command->add_flag("--json", arguments->json, "print the record, and nothing else, on stdout")->excludes(dry_run_flag);
  command->add_flag("--quiet", arguments->quiet, "print nothing but errors");
  command->footer(footer());
  return [arguments](CommandContext& context) { return run(*arguments, context); };
}

}  // namespace mongo
