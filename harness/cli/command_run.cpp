#include <fmt/format.h>
#include <signal.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "fsdrivers/catalogue.h"
#include "harness/cli/command.h"
#include "harness/cli/text_observer.h"
#include "harness/core/errors.h"
#include "harness/device/guard.h"
#include "harness/device/loop.h"
#include "harness/device/loop_check.h"
#include "harness/device/mkfs_options.h"
#include "harness/device/mount.h"
#include "harness/process/runner.h"
#include "harness/report/append.h"
#include "harness/report/record_json.h"
#include "harness/run/availability.h"
#include "harness/run/cell_runner.h"
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

/// Prints the plan, then what a run would say to the host and the device; touches neither.
int dry_run(const Cell& cell, CommandContext& context) {
  check_mkfs_options({cell.driver->name, cell.driver->mkfs_options, cell.driver->refused_mkfs_suboptions},
                     cell.mkfs_options);
  check_mount_options(cell.mount_options);
  context.console.out(describe_cell(cell));
  const ChosenEnvironment chosen = choose_environment(cell, nullptr);
  if (chosen.why_not) throw Unsupported(*chosen.why_not);
  GuardOptions options;
  options.destroy = cell.destroy;
  options.keep_paths = {cell.results, "/proc/self/exe"};
  if (cell.device.kind == DeviceSpec::Kind::none) return 0;
  if (cell.device.kind == DeviceSpec::Kind::block) {
    const Guard guard(options);
    guard.require(guard.resolve(cell.device.path));
  } else {
    LoopOptions loop;
    loop.preallocate = !cell.sparse;
    loop.sector_size = cell.sector_size;
    check_loop_spec(cell.device, options, loop);
  }
  MountPoint::check(cell.mount_point);
  return 0;
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
    context.console.error(fmt::format("{} on {}: {}: {}", record.filesystem, record.device.given,
                                      status_name(record.status), record.reason));
  }
  return status;
}

}  // namespace

CommandBody add_run_command(CLI::App& app) {
  auto arguments = std::make_shared<RunArguments>();
  RunRequest& request = arguments->request;
  CLI::App* command =
      app.add_subcommand("run", "Format a device, mount it, run the phases, unmount, append to the results.");
  command->add_option("FILESYSTEM", request.filesystem, "file system to make")->required();
  command
      ->add_option(
          "DEVICE", request.device,
          "block device; or loop:SIZE (a file of the tool's own), loop:PATH (an image file), ram:SIZE (memory)")
      ->required();
  command->add_option("MOUNTPOINT", request.mount_point, "empty directory, or one to be made and removed")->required();
  command->add_option("LOG", request.log, "name of the result files")->required();
  command
      ->add_option("PROCESSES", request.processes,
                   fmt::format("processes at work at the same time, 1 to {}", max_processes))
      ->required();
  command->add_option("--profile", request.profile, "classic (default), ltp or smoke");
  command->add_option("--phases", request.phases, "only these, comma-separated; they run in their usual order");
  command->add_option("--repetitions", request.repetitions, "repetitions of each phase; default: the profile's");
  command->add_option("--mkfs-options", request.mkfs_options,
                      "options for mkfs, split into words as a shell would; nothing is expanded");
  command->add_option("--mount-options", request.mount_options, "options for mount, comma-separated");
  command->add_option("--results", request.results, "directory for the result files; default: results");
  command->add_option(
      "--cache", request.cache,
      "caches before each repetition: warm (default: as they are), drop (drop_caches), remount; for all "
      "phases, or as read=drop,stat=remount");
  command->add_option("--sync", request.sync,
                      "each: fsync after each file, inside the time; phase (default): syncfs after each phase, outside "
                      "it; none");
  command->add_option("--content", request.content,
                      "of the files: random (default; does not compress), letter-a, zero, compressible:PCT");
  command->add_flag("--verify", request.verify,
                    "compare what was created, copied, linked, read and renamed after each phase, outside its time");
  command->add_option("--phase-timeout", request.phase_timeout,
                      "seconds after which a phase has failed; default: a day");
  command->add_option(
      "--environment", request.environment,
      "where the phases run: host; uml, a User-mode Linux guest, for file systems that this kernel lacks; "
      "auto (default): host where it can, else uml");
  command->add_option("--sector-size", request.sector_size, "of loop: and ram: devices, 512 (default) to 4096 bytes");
  command->add_flag("--sparse", request.sparse, "do not allocate the file of loop:SIZE or ram:SIZE beforehand");
  command->add_flag("!--no-latency", request.latency, "do not measure how long each operation takes");
  command->add_flag("--destroy", request.destroy,
                    "format although the device holds something that this tool did not make");
  CLI::Option* dry_run_flag =
      command->add_flag("--dry-run", arguments->dry_run, "print the cell and every command; touch nothing");
  command->add_flag("--json", arguments->json, "print the record, and nothing else, on stdout")->excludes(dry_run_flag);
  command->add_flag("--quiet", arguments->quiet, "print nothing but errors");
  command->footer(footer());
  return [arguments](CommandContext& context) { return run(*arguments, context); };
}

}  // namespace mongo
