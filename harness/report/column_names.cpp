#include "harness/report/column_names.h"

#include <fmt/format.h>

#include <set>

#include "harness/core/quote.h"
#include "harness/report/conditions.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

/// A feature of a run that may tell it from another of the same file system.
using Feature = std::string (*)(const RunRecord&);

std::string mount_options(const RunRecord& run) {
  return run.mount.requested.empty() ? "default mount" : run.mount.requested;
}

std::string mkfs_options(const RunRecord& run) {
  return run.mkfs.options.empty() ? "default mkfs" : quote_argv(run.mkfs.options);
}

std::string processes(const RunRecord& run) { return process_count(run.processes); }

std::string profile(const RunRecord& run) { return run.profile.empty() ? "no profile" : run.profile; }

std::string sync(const RunRecord& run) { return "sync " + run.sync; }

std::string caches(const RunRecord& run) {
  std::set<std::string> summaries;
  for (const PassRecord& pass : run.passes) summaries.insert(cache_summary(pass));
  summaries.erase("");
  return summaries.empty() ? "warm" : fmt::format("{}", fmt::join(summaries, " or "));
}

std::string content(const RunRecord& run) { return run.content; }

std::string verify(const RunRecord& run) { return run.verify ? "verified" : "not verified"; }

std::string kernel(const RunRecord& run) { return run.host.kernel.empty() ? "no kernel" : run.host.kernel; }

std::string log_name(const RunRecord& run) { return run.log.empty() ? "no log" : run.log; }

std::string run_id(const RunRecord& run) { return run.run_id; }

// What changes the figures comes first; the run's id always differs unless one run is given twice.
constexpr Feature features[] = {mount_options, mkfs_options, processes, profile,  sync,  caches,
                                content,       verify,       kernel,    log_name, run_id};

using Parts = std::vector<std::string>;

bool all_distinct(const std::vector<Parts>& names) {
  return std::set<Parts>(names.begin(), names.end()).size() == names.size();
}

/// What to add to the names of runs that share a heading: features that differ among them until all are distinct.
std::vector<Parts> tell_apart(const std::vector<const RunRecord*>& runs) {
  std::vector<Parts> names(runs.size());
  for (const Feature feature : features) {
    if (all_distinct(names)) return names;
    std::set<std::string> values;
    for (const RunRecord* run : runs) values.insert(feature(*run));
    if (values.size() == 1) continue;
    for (std::size_t i = 0; i < runs.size(); ++i) names[i].push_back(ascii_line(feature(*runs[i])));
  }
  if (!all_distinct(names)) {
    for (std::size_t i = 0; i < runs.size(); ++i) names[i].push_back(fmt::format("#{}", i + 1));
  }
  return names;
}

/// "ext4", "dir (tmpfs)"
std::string heading(const RunRecord& run) {
  const std::string below = directory_filesystem(run);
  return below.empty() ? run.filesystem : fmt::format("{} ({})", run.filesystem, below);
}

/// Breaks at commas and blanks where there are any, otherwise anywhere.
void wrap(const std::string& text, std::size_t width, std::vector<std::string>& lines) {
  std::string rest = text;
  while (rest.size() > width) {
    const std::size_t mark = rest.find_last_of(", -", width - 1);
    const std::size_t end = mark == std::string::npos || mark == 0 ? width : mark + 1;
    lines.push_back(rest.substr(0, rest[end - 1] == ' ' ? end - 1 : end));
    rest.erase(0, end);
  }
  if (!rest.empty()) lines.push_back(rest);
}

}  // namespace

std::vector<ColumnName> column_names(const std::vector<RunRecord>& runs, std::size_t width) {
  std::vector<ColumnName> names(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!names[i].lines.empty()) continue;
    std::vector<std::size_t> same;
    std::vector<const RunRecord*> group;
    for (std::size_t j = i; j < runs.size(); ++j) {
      if (heading(runs[j]) != heading(runs[i])) continue;
      same.push_back(j);
      group.push_back(&runs[j]);
    }
    const std::vector<Parts> additions = tell_apart(group);
    for (std::size_t k = 0; k < same.size(); ++k) {
      ColumnName& name = names[same[k]];
      name.text = ascii_line(heading(*group[k]));
      wrap(name.text, width, name.lines);
      for (const std::string& part : additions[k]) {
        name.text += " " + part;
        wrap(part, width, name.lines);
      }
      if (name.lines.empty()) name.lines.emplace_back("?");
    }
  }
  return names;
}

}  // namespace mongo
