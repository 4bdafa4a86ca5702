#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <string>

#include "harness/cli/command.h"
#include "harness/cli/table.h"
#include "harness/core/errors.h"
#include "harness/core/quote.h"
#include "harness/run/doctor.h"

namespace mongo {
namespace {

int doctor(const std::string& results, CommandContext& context) {
  const Diagnosis diagnosis = diagnose(results);
  std::vector<std::vector<std::string>> rows;
  for (const auto* findings : {&diagnosis.filesystems, &diagnosis.host}) {
    for (const Finding& finding : *findings)
      rows.push_back({finding.good ? "ok" : "--", finding.what, printable(finding.text)});
  }
  context.console.out(aligned(rows));
  if (diagnosis.can_run()) return 0;
  context.console.error("no file system can be made and run on this host, only dir, a run in an existing directory");
  return static_cast<int>(ExitStatus::unsupported);
}

}  // namespace

CommandBody add_doctor_command(CLI::App& app) {
  auto results = std::make_shared<std::string>("results");
  CLI::App* command = app.add_subcommand("doctor", "Say what this host can run and what is missing.");
  command->add_option("--results", *results, "directory for the result files; default: results");
  command->footer(
      "Example:\n  mongo doctor\n\nExit status 0 when at least one file system besides dir can be run, else 4. "
      "Touches nothing.");
  return [results](CommandContext& context) { return doctor(*results, context); };
}

}  // namespace mongo
