#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <charconv>
#include <ctime>
#include <memory>
#include <random>

#include "harness/cli/command.h"
#include "harness/cli/table.h"
#include "harness/core/byte_size.h"
#include "harness/core/errors.h"
#include "harness/core/quote.h"
#include "harness/matrix/files.h"
#include "harness/matrix/matrix_run.h"
#include "harness/matrix/nightly.h"
#include "harness/matrix/prune.h"
#include "harness/matrix/record_list.h"
#include "harness/process/runner.h"
#include "harness/report/text.h"
#include "harness/run/availability.h"

namespace mongo {
namespace {

struct MatrixArguments {
  std::string file, resume, order = "shuffled", results = "results", seed, keep, keep_days, hook, lock, idle;
  bool dry_run = false, quiet = false, side_by_side = false;
};

/// Lines for finished cells on stdout, and on a terminal a status line.
class ConsoleObserver : public MatrixObserver {
 public:
  ConsoleObserver(Console& console, bool quiet) : console_(console), quiet_(quiet) {}
  void warning(const std::string& text) override { console_.error("warning: " + text); }
  void progress(const Overview& view) override {
    if (!quiet_) console_.status_line(overview_line(view));
  }
  void cell_finished(const std::vector<CellState>& cells, std::size_t index) override {
    if (!quiet_) console_.out(finished_line(cells, index) + "\n");
  }
  int progress_interval() const override { return !quiet_ && console_.has_status_line() ? 500 : 5000; }

 private:
  Console& console_;
  bool quiet_;
};

std::uint64_t choose_seed(const std::string& text) {
  if (text.empty()) return std::random_device()();
  std::uint64_t seed = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seed);
  if (error != std::errc() || stop != end || seed > largest_seed) {
    throw UsageError(fmt::format("--seed '{}' must be a whole decimal number from 0 to {}", text, largest_seed));
  }
  return seed;
}

Keep parse_keep(const MatrixArguments& arguments) {
  Keep keep;
  if (!arguments.keep.empty()) keep.runs = parse_count(arguments.keep, "--keep", 1, 1'000'000);
  if (!arguments.keep_days.empty()) keep.days = parse_count(arguments.keep_days, "--keep-days", 1, 36'500);
  return keep;
}

/// Formatting needs root, an existing directory does not. Better said once than by every cell.
void require_root(const CellList& list) {
  for (const ListedCell& planned : list.cells) {
    if (const auto why = why_no_root(*planned.cell.driver)) throw Error(ExitStatus::failed, *why);
  }
}

/// The cells that are to be run, with what they will take. Touches nothing.
void print_plan(const CellList& list, const std::vector<CellState>& states, const Estimates& earlier,
                Console& console) {
  std::vector<std::vector<std::string>> rows{{"", "cell", "on", "time", "used", "data at most"}};
  double seconds = 0;
  int unknown = 0;
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < list.cells.size(); ++i) {
    if (is_done(states[i].status)) continue;
    const ListedCell& planned = list.cells[i];
    const std::optional<double> time = earlier.seconds_of_same(planned.id);
    seconds += time.value_or(0);
    unknown += time ? 0 : 1;
    most = std::max(most, planned.space_bytes);
    const std::optional<std::uint64_t> used = earlier.used_bytes_of_same(planned.id);
    rows.push_back({std::to_string(i + 1), planned.cell.log, one_line(planned.cell.device.given),
                    time ? duration_text(*time) : "unknown", used ? format_rounded(ByteSize{*used}) : "unknown",
                    format_rounded(ByteSize{planned.space_bytes})});
  }
  const auto cells = static_cast<int>(rows.size()) - 1;
  std::string text = aligned(rows) + fmt::format("{} cell{}, order {}, seed {}; time ", cells, cells == 1 ? "" : "s",
                                                 order_name(list.order), list.seed);
  if (unknown == cells) {
    text += "unknown";
  } else {
    text += duration_text(seconds);
    if (unknown > 0) text += fmt::format(" and that of {} cell{}, which is unknown", unknown, unknown == 1 ? "" : "s");
  }
  console.out(text + fmt::format("; at most {} of data on a device at a time\n", format_rounded(ByteSize{most})));
}

/// The cells of the FILE in the order asked for. Its warnings are told by warn.
template <typename Warn>
CellList plan_file(const MatrixArguments& arguments, const InterruptWatch& watch, const Warn& warn) {
  const std::uint64_t seed = choose_seed(arguments.seed);
  const Matrix matrix = read_matrix(arguments.file, &watch);
  for (const std::string& warning : matrix.warnings) warn(warning);
  return plan_cells(matrix, arguments.order == "listed" ? MatrixOrder::listed : MatrixOrder::shuffled, seed);
}

int dry_run(const MatrixArguments& arguments, CommandContext& context) {
  if (!arguments.resume.empty()) {
    const RunFolder folder = find_run_folder(arguments.resume);
    print_plan(read_cells(folder, arguments.file, &context.watch),
               states_to_resume(state_from_text(read_whole_file(folder.state_file()), folder.state_file()).cells,
                                read_done_cells(folder.records_file())),
               learn_from(folder.results()), context.console);
    return 0;
  }
  const CellList list =
      plan_file(arguments, context.watch, [&](const std::string& text) { context.console.error("warning: " + text); });
  print_plan(list, waiting_cells(list), learn_from(arguments.results), context.console);
  return 0;
}

MatrixRun open_run(const MatrixArguments& arguments, MatrixObserver& observer, CommandContext& context) {
  // What is wrong with the arguments is said before anything is waited for.
  std::optional<RunFolder> earlier;
  CellList list;
  if (!arguments.resume.empty()) {
    earlier = find_run_folder(arguments.resume);
    list = read_cells(*earlier, arguments.file, &context.watch);
  } else {
    list = plan_file(arguments, context.watch, [&](const std::string& text) { observer.warning(text); });
    list.matrix_path = arguments.file;
  }
  require_root(list);
  if (!arguments.idle.empty()) {
    const int minutes = parse_count(arguments.idle, "--idle", 0, 24 * 60);
    const std::string warning = wait_until_idle(std::chrono::minutes(minutes), context.watch);
    if (!warning.empty()) observer.warning(warning);
  }
  return earlier ? MatrixRun::take_up(*earlier, std::move(list), context.watch)
                 : MatrixRun::begin(std::move(list), arguments.results, context.watch);
}

/// What comes after the last cell, however the run ended.
void after_the_run(const MatrixRun& run, const Keep& keep, const std::string& hook, int status,
                   const InterruptWatch& watch, MatrixObserver& observer) {
  if (!hook.empty()) {
    // After a signal it is called all the same, and a second one does not end it.
    RealRunner runner(watch.signal_number() == 0 ? &watch : nullptr);
    const std::string warning = call_hook(hook, run.folder(), run.state(), status, runner);
    if (!warning.empty()) observer.warning(warning);
  }
  const Pruned pruned = prune_runs(run.folder().results(), run.folder().name(), keep, std::time(nullptr));
  for (const std::string& warning : pruned.warnings) observer.warning(warning);
}

int matrix(const MatrixArguments& arguments, CommandContext& context) {
  if (arguments.file.empty() && arguments.resume.empty()) {
    throw UsageError("name the FILE of a matrix, or a run to take up: --resume DIR");
  }
  const Keep keep = parse_keep(arguments);
  const std::string hook = arguments.hook.empty() ? "" : find_hook(arguments.hook);
  if (arguments.dry_run) return dry_run(arguments, context);
  Descriptor lock;
  if (!arguments.lock.empty()) {
    lock = take_lock(arguments.lock, std::chrono::milliseconds(0), &context.watch);
    if (!lock) {
      throw Error(static_cast<ExitStatus>(locked_status),
                  fmt::format("another run holds the lock {}; nothing was done", one_line(arguments.lock)));
    }
  }
  ConsoleObserver observer(context.console, arguments.quiet);
  MatrixRun run = open_run(arguments, observer, context);
  if (arguments.side_by_side) run.allow_side_by_side();
  int status = 0;
  try {
    run.run(observer);
    status = exit_status(run.state().cells, context.watch.signal_number());
  } catch (const Error& error) {
    context.console.error(error.what());
    status = static_cast<int>(ExitStatus::failed);
  }
  context.console.clear_status_line();
  if (!arguments.quiet) {
    context.console.out(
        fmt::format("{}\nresults: {}\n", counts_text(count_cells(run.state().cells)), one_line(run.folder().path)));
  }
  if (count_cells(run.state().cells).done() != static_cast<int>(run.state().cells.size())) {
    const bool there = access(run.folder().path.c_str(), F_OK) == 0;
    context.console.error(there ? "not all cells were run. Go on with: " +
                                      quote_argv({"mongo", "matrix", "--resume", run.folder().path})
                                : "not all cells were run, and the folder of the run is gone");
  }
  after_the_run(run, keep, hook, status, context.watch, observer);
  return status;
}

std::string not_empty(const std::string& text) {
  return text.empty() ? "it is empty; leave it out, or give a value" : "";
}

}  // namespace

CommandBody add_matrix_command(CLI::App& app) {
  auto arguments = std::make_shared<MatrixArguments>();
  CLI::App* command = app.add_subcommand("matrix", "Run the cells of a matrix file, one at a time.");
  command->add_option("FILE", arguments->file, "matrix in YAML; may be left out with --resume");
  CLI::Option* resume =
      command->add_option("--resume", arguments->resume, "take up the run in this folder: what is done stays");
  command->add_flag("--dry-run", arguments->dry_run,
                    "print the cells in their order with what they take; touch nothing");
  command->add_option("--order", arguments->order, "shuffled (default): repeat by repeat, each shuffled; listed")
      ->check(CLI::IsMember({"shuffled", "listed"}))
      ->excludes(resume);
  command->add_option("--seed", arguments->seed, "of the shuffled order; default: random, and recorded")
      ->excludes(resume);
  command->add_flag("--side-by-side", arguments->side_by_side,
                    "run cells on different disks at the same time; they get the flag side-by-side");
  command->add_option("--results", arguments->results, "directory in which the run gets its folder; default: results")
      ->excludes(resume);
  CLI::Option* keep =
      command->add_option("--keep", arguments->keep, "afterwards remove old runs but the newest N, this one included");
  command->add_option("--keep-days", arguments->keep_days, "afterwards remove runs that are older than N days")
      ->excludes(keep);
  command->add_option("--hook", arguments->hook, "program to call at the end, as PROGRAM DIR STATUS");
  command->add_option("--lock", arguments->lock, "lock file: of the runs that name it one is at work at a time");
  command->add_option("--idle", arguments->idle,
                      fmt::format("wait at most N minutes until the load is below {}", idle_load));
  command->add_flag("--quiet", arguments->quiet, "print nothing but errors and warnings");
  for (CLI::Option* option : command->get_options()) {
    // An empty variable of a script must not mean something else than what was meant.
    if (option->get_items_expected_max() > 0) option->check(not_empty);
  }
  command->footer(
      "Examples:\n"
      "  mongo matrix configs/example.yaml --dry-run\n"
      "  mongo matrix configs/example.yaml --results /srv/mongo\n"
      "  mongo matrix --resume /srv/mongo/20261130T165001Z-1a2b3c\n\n"
      "Exit status: 0 all cells ok or not available here; 1 some failed or skipped, or the results not written; 5 "
      "some\n"
      "incomplete and none failed; 6 another process is at this run or holds the lock: nothing was done; 128 + the\n"
      "signal's number when interrupted: --resume goes on.");
  return [arguments](CommandContext& context) { return matrix(*arguments, context); };
}

}  // namespace mongo
