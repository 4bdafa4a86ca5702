#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <string>
#include <vector>

#include "harness/cli/command.h"
#include "harness/core/errors.h"
#include "harness/report/compare.h"
#include "harness/report/record_json.h"

namespace mongo {
namespace {

int compare(const std::vector<std::string>& files, CommandContext& context) {
  std::vector<RunRecord> records;
  for (const std::string& file : files) {
    RecordFile content = read_records(file);
    for (const std::string& warning : content.warnings) context.console.error(warning);
    records.push_back(std::move(content.records.back()));
  }
  context.console.out(side_by_side(records));
  return 0;
}

}  // namespace

CommandBody add_compare_command(CLI::App& app) {
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand(
      "compare", "Print runs side by side as the published tables do: phases down, file systems across.");
  command->add_option("FILE", *files, "LOG.jsonl files; the newest run of each is taken")->required();
  command->footer("Example:\n  mongo compare results/logext3.jsonl results/logxfs.jsonl");
  return [files](CommandContext& context) { return compare(*files, context); };
}

}  // namespace mongo
