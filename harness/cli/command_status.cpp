#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "harness/cli/command.h"
#include "harness/cli/table.h"
#include "harness/matrix/status.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

struct StatusArguments {
  std::string folder;
  bool json = false;
};

int status(const StatusArguments& arguments, CommandContext& context) {
  const MatrixStatus found = read_status(find_run_folder(arguments.folder));
  if (arguments.json) {
    context.console.out(to_json(found).dump(2) + "\n");
    return 0;
  }
  std::string text = fmt::format("{} of {}, order {}, seed {}\n{}\n", found.state.run, one_line(found.head.matrix_path),
                                 found.head.order, found.head.seed, headline(found));
  if (!found.state.started_at.empty()) {
    text += "begun " + found.state.started_at + (found.state.ended_at.empty() ? "" : ", ended " + found.state.ended_at) + "\n";
  }
  if (found.overview) text += overview_line(*found.overview) + "\n";
  std::vector<std::vector<std::string>> rows{{"", "cell", "status", "time", "reason"}};
  for (std::size_t i = 0; i < found.state.cells.size(); ++i) {
    const CellState& cell = found.state.cells[i];
    rows.push_back({std::to_string(i + 1), cell.log, cell_status_name(cell.status),
                    cell.seconds ? duration_text(*cell.seconds) : no_value,
                    cell.reason.empty() ? no_value : one_line(cell.reason)});
  }
  context.console.out(text + aligned(rows));
  return 0;
}

}  // namespace

CommandBody add_status_command(CLI::App& app) {
  auto arguments = std::make_shared<StatusArguments>();
  CLI::App* command = app.add_subcommand("status", "Show how far a run of a matrix is, from the files in its folder.");
  command->add_option("DIR", arguments->folder, "folder of the run")->required();
  command->add_flag("--json", arguments->json, "print it as JSON");
  command->footer(
      "Example:\n  mongo status results/20261130T165001Z-1a2b3c\n\nCan be asked from any terminal, and from any "
      "machine "
      "that sees the folder; also after the end. Changes nothing.");
  return [arguments](CommandContext& context) { return status(*arguments, context); };
}

}  // namespace mongo
