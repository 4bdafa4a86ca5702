#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/cli/command.h"
#include "harness/core/errors.h"
#include "harness/matrix/files.h"
#include "harness/matrix/run_folder.h"
#include "harness/plan/matrix.h"
#include "harness/report/compare.h"
#include "harness/report/published.h"
#include "harness/report/record_json.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

namespace fs = std::filesystem;

constexpr const char* reference_here = "results/reference";

struct CompareOptions {
  std::vector<std::string> files;
  bool across_environments = false;
  bool ratios = false;
  bool published = false;
  std::string reference;  // empty: where they usually are
};

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

/// For the folder of a matrix run the files of its cells, in the order of the matrix file.
std::vector<std::string> without_folders(const std::vector<std::string>& given, CommandContext& context) {
  std::vector<std::string> files;
  for (const std::string& name : given) {
    std::error_code ignored;
    if (!fs::is_directory(name, ignored)) {
      files.push_back(name);
      continue;
    }
    const RunFolder run = find_run_folder(name);
    std::size_t found = 0;
    for (const MatrixCell& cell : parse_matrix(read_whole_file(run.matrix_file()), run.matrix_file()).cells) {
      const std::string file = run.path + "/" + cell.request.log + ".jsonl";
      if (fs::exists(file, ignored)) {
        files.push_back(file);
        ++found;
      } else {
        context.console.error(fmt::format("the cell {} has no record and is left out", one_line(cell.request.log)));
      }
    }
    if (found == 0) throw UsageError(fmt::format("no cell of {} has a record yet", one_line(run.path)));
  }
  return files;
}

/// The newest run of each file.
std::vector<RunRecord> newest_runs(const std::vector<std::string>& files, CommandContext& context) {
  std::vector<RunRecord> records;
  for (const std::string& file : files) {
    RecordFile content = read_records(file);
    for (const std::string& warning : content.warnings) context.console.error(warning);
    records.push_back(std::move(content.records.back()));
  }
  return records;
}

/// The .jsonl files of the folder, sorted by name.
std::vector<std::string> record_files(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".jsonl") files.push_back(entry->path().string());
  }
  if (error) throw UsageError(fmt::format("cannot read the folder {}: {}", folder, error.message()));
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> reference_files(const std::string& asked_for) {
  if (!asked_for.empty()) {
    std::vector<std::string> files = record_files(asked_for);
    if (files.empty()) throw UsageError(fmt::format("{} holds no .jsonl files", asked_for));
    return files;
  }
  for (const char* folder : {reference_here, MONGO_REFERENCE_DIR}) {
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored)) continue;
    std::vector<std::string> files = record_files(folder);
    if (!files.empty()) return files;
  }
  throw UsageError(fmt::format("the published tables are neither in {} nor in {}: say with --reference where they are",
                               reference_here, MONGO_REFERENCE_DIR));
}

int compare(const CompareOptions& options, CommandContext& context) {
  const std::vector<std::string> files = without_folders(options.files, context);
  const std::vector<RunRecord> runs = newest_runs(files, context);
  if (!options.across_environments) check_environments(runs, files);
  if (options.published) {
    // These are ratios of their own: where they were measured is no matter.
    const std::vector<RunRecord> published = newest_runs(reference_files(options.reference), context);
    context.console.out(beside_published(runs, published));
    return 0;
  }
  context.console.out(side_by_side(runs, options.ratios ? CompareFigures::ratios : CompareFigures::measured));
  return 0;
}

}  // namespace

CommandBody add_compare_command(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand(
      "compare", "Print runs side by side as the published tables do: phases down, file systems across.");
  command->add_option("FILE", options->files, "LOG.jsonl files, of which the newest run is taken, or folders of matrix runs")->required();
  CLI::Option* ratios =
      command->add_flag("--ratios", options->ratios, "times and used space as ratios to those of the first run");
  CLI::Option* published = command->add_flag(
      "--published", options->published, "ratios to the first run, beside those of the tables published around 2001");
  published->excludes(ratios);
  command
      ->add_option("--reference", options->reference,
                   "the folder of the published records; default: results/reference, or where they were installed")
      ->type_name("DIR")
      ->needs(published);
  command->add_flag("--across-environments", options->across_environments,
                    "also runs of which some ran on the host and some in a guest; their times do not compare");
  command->footer(
      "Examples:\n  mongo compare results/logext3.jsonl results/logxfs.jsonl\n"
      "  mongo compare --published results/logext3.jsonl results/logxfs.jsonl\n"
      "  mongo compare results/20261130T165001Z-1a2b3c");
  return [options](CommandContext& context) { return compare(*options, context); };
}

}  // namespace mongo
