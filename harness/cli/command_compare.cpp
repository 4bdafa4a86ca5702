#include <fmt/format.h>

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

/// Times in a guest are several times those on the host, whatever the file system does.
void check_environments(const std::vector<RunRecord>& records, const std::vector<std::string>& files) {
  for (std::size_t i = 1; i < records.size(); ++i) {
    if (records[i].environment == records[0].environment) continue;
    throw UsageError(fmt::format(
        "{} ran in the environment {}, {} in {}: their times say nothing about each other. Run both in the same one "
        "(mongo run --environment), or say --across-environments to see them side by side all the same",
        files[0], records[0].environment, files[i], records[i].environment));
  }
}

int compare(const std::vector<std::string>& files, bool across_environments, CommandContext& context) {
  std::vector<RunRecord> records;
  for (const std::string& file : files) {
    RecordFile content = read_records(file);
    for (const std::string& warning : content.warnings) context.console.error(warning);
    records.push_back(std::move(content.records.back()));
  }
  if (!across_environments) check_environments(records, files);
  context.console.out(side_by_side(records));
  return 0;
}

}  // namespace

CommandBody add_compare_command(CLI::App& app) {
  auto files = std::make_shared<std::vector<std::string>>();
  auto across = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand(
      "compare", "Print runs side by side as the published tables do: phases down, file systems across.");
  command->add_option("FILE", *files, "LOG.jsonl files; the newest run of each is taken")->required();
  command->add_flag("--across-environments", *across,
                    "also runs of which some ran on the host and some in a guest; their times do not compare");
  command->footer("Example:\n  mongo compare results/logext3.jsonl results/logxfs.jsonl");
  return [files, across](CommandContext& context) { return compare(*files, *across, context); };
}

}  // namespace mongo
