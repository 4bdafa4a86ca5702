#include "harness/matrix/prune.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/filesystem.hpp>
#include <cerrno>
#include <set>

#include "harness/core/errors.h"
#include "harness/matrix/files.h"
#include "harness/matrix/run_folder.h"
#include "harness/matrix/state.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

namespace fs = boost::filesystem;

constexpr std::time_t seconds_a_day = 24 * 3600;

/// What this tool writes into the folder of a run.
std::set<std::string> own_files(const RunFolder& run) {
  std::set<std::string> names;
  for (const std::string& path : {run.matrix_file(), run.cells_file(), run.state_file(), run.progress_file(),
                                  run.records_file(), run.lock_file(), run.cell_lock_file()}) {
    names.insert(path.substr(path.rfind('/') + 1));
    names.insert(path.substr(path.rfind('/') + 1) + ".new");
  }
  for (const CellState& cell : state_from_text(read_whole_file(run.state_file()), run.state_file()).cells) {
    for (const std::string& name : result_files(cell.log)) names.insert(name);
  }
  return names;
}

/// Returns why it was left; empty when it is gone.
std::string remove_run(const RunFolder& run) {
  const Descriptor lock = take_lock(run.lock_file(), std::chrono::milliseconds(200), nullptr);
  if (!lock || is_locked(run.cell_lock_file())) return "a process is at work in it";
  const std::set<std::string> own = own_files(run);
  std::vector<std::string> found;
  boost::system::error_code error;
  for (fs::directory_iterator entry(run.path, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (own.count(name) == 0 || fs::is_directory(entry->symlink_status())) {
      return fmt::format("it holds {}, which is not of this tool", one_line(name));
    }
    found.push_back(name);
  }
  if (error) return error.message();
  const auto remove = [&run](const std::string& name) {
    const bool gone = unlink((run.path + "/" + name).c_str()) == 0 || errno == ENOENT;
    return gone ? "" : fmt::format("{} cannot be removed: {}", one_line(name), errno_text(errno));
  };
  // What makes it known as a run goes last, so that the next time takes up what was broken off.
  const std::set<std::string> last{"cells.json", "state.json"};
  for (const std::string& name : found) {
    if (last.count(name) != 0) continue;
    if (const std::string problem = remove(name); !problem.empty()) return problem;
  }
  for (const std::string& name : last) {
    if (const std::string problem = remove(name); !problem.empty()) return problem;
  }
  return rmdir(run.path.c_str()) == 0 ? "" : errno_text(errno);
}

}  // namespace

Pruned prune_runs(const std::string& results, const std::string& current, const Keep& keep, std::time_t now) {
  Pruned pruned;
  if (!keep.runs && !keep.days) return pruned;
  std::vector<RunFolder> runs = runs_below(results);
  std::erase_if(runs, [&](const RunFolder& run) { return run.name() == current; });
  const std::size_t others = keep.runs ? static_cast<std::size_t>(*keep.runs) - 1 : runs.size();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool too_many = runs.size() - i > others;
    const bool too_old = keep.days && *time_of_run_name(runs[i].name()) < now - *keep.days * seconds_a_day;
    if (!too_many && !too_old) continue;
    std::string problem;
    try {
      problem = remove_run(runs[i]);
    } catch (const Error& error) {
      problem = error.what();
    }
    if (problem.empty()) {
      pruned.removed.push_back(runs[i].name());
    } else {
      pruned.warnings.push_back(fmt::format("the old run {} was not removed: {}", one_line(runs[i].path), problem));
    }
  }
  return pruned;
}

}  // namespace mongo
