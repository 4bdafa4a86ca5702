#include <fmt/format.h>

#include "harness/core/quote.h"
#include "harness/run/availability.h"
#include "harness/run/cell_runner.h"
#include "harness/run/mkfs_command.h"

namespace mongo {
namespace {

/// "caches drop for read; sync each; content zero": what is not the default.
std::string describe_conditions(const Cell& cell) {
  std::vector<std::string> parts;
  for (const phases::Phase* phase : cell.phases) {
    const CachePolicy policy = policy_of(cell.cache, phase->name);
    if (policy != CachePolicy::warm)
      parts.push_back(fmt::format("{} before {}", cache_policy_name(policy), phase->name));
  }
  if (cell.sync != SyncPolicy::phase) parts.push_back(fmt::format("sync {}", sync_policy_name(cell.sync)));
  const std::string content = phases::content_name(cell.content);
  if (content != "random") parts.push_back("content " + content);
  if (cell.verify) parts.emplace_back("content is verified");
  if (cell.phase_timeout_seconds) parts.push_back(fmt::format("at most {} s a phase", *cell.phase_timeout_seconds));
  if (cell.sparse) parts.emplace_back("not allocated beforehand");
  if (!cell.latency) parts.emplace_back("no latencies");
  return parts.empty() ? "" : fmt::format("conditions: {}\n", fmt::join(parts, "; "));
}

}  // namespace

std::string describe_cell(const Cell& cell) {
  // Names as parts of one line: a name with a line end must not look like a command of its own.
  const std::string point = printable(quote_argv({cell.mount_point}));
  const std::string given = printable(cell.device.given);
  const std::string device = cell.device.kind == DeviceSpec::Kind::block ? cell.device.path : "/dev/loopN";
  const std::string node = printable(quote_argv({device}));
  const std::string where = cell.driver->existing_directory ? point : fmt::format("{}, mounted on {}", given, point);
  std::string text =
      fmt::format("{} on {}, processes: {}, repetitions: {}, profile {}, log {}/{}\n", cell.driver->name, where,
                  cell.processes, cell.repetitions, cell.profile.name, printable(cell.results), printable(cell.log));
  text += describe_conditions(cell);
  if (cell.driver->existing_directory) {
    for (const phases::TreeParameters& tree : cell.profile.passes) text += describe_pass(cell, tree) + "\n";
    return text + fmt::format("each in a folder mongo-RUN_ID in {}, which is removed\n", point);
  }
  if (cell.device.kind != DeviceSpec::Kind::block) {
    text += fmt::format("attach {} as a loop device, here called {}{}\n", given, node,
                        cell.sector_size == 512 ? "" : fmt::format(", with sectors of {} bytes", cell.sector_size));
  }
  const bool in_guest = choose_environment(cell, nullptr).environment == Environment::uml;
  int number = 0;
  for (const phases::TreeParameters& tree : cell.profile.passes) {
    text += fmt::format("pass {} of {}: {}\n", ++number, cell.profile.passes.size(), describe_pass(cell, tree));
    text += fmt::format("  wipe all signatures of {}\n", node);
    if (cell.driver->pool) {
      const fsdrivers::PoolCommands& pool = *cell.driver->pool;
      const fsdrivers::PoolRequest request{pool.name("UUID"), device, cell.mount_point, device, cell.mkfs_options};
      text += fmt::format("  {}\n  {}\n", printable(quote_argv(pool.create(request))),
                          printable(quote_argv(pool.destroy(request))));
      continue;
    }
    if (cell.driver->format_argv != nullptr) {
      text += fmt::format("  {}\n", printable(quote_argv(mkfs_argv(cell, device, "UUID"))));
    }
    if (cell.driver->after_format != nullptr) {
      for (const std::vector<std::string>& argv : cell.driver->after_format({device, "UUID", cell.mkfs_options})) {
        text += fmt::format("  {}\n", printable(quote_argv(argv)));
      }
    }
    if (in_guest) text += "  boot a User-mode Linux guest, in it:\n";
    text += fmt::format("  mount -t {}{} {} {}\n", cell.driver->kernel_type,
                        cell.mount_options.empty() ? "" : " -o " + printable(quote_argv({cell.mount_options})), node,
                        point);
    text += fmt::format("  umount {}\n", point);
  }
  if (cell.device.kind != DeviceSpec::Kind::block) text += fmt::format("detach {}\n", node);
  return text;
}

}  // namespace mongo
