#include "harness/matrix/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/filesystem.hpp>
#include <cerrno>
#include <climits>
#include <cstdlib>

#include "harness/core/descriptor.h"
#include "harness/core/errors.h"
#include "harness/measure/host.h"
#include "harness/report/catalogue.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

namespace fs = boost::filesystem;

bool is_file(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

std::string absolute(const std::string& path) {
  char buffer[PATH_MAX];
  return realpath(path.c_str(), buffer) != nullptr ? buffer : "";
}

}  // namespace

std::optional<std::time_t> time_of_run_name(const std::string& name) {
  // 20261130T165001Z-1a2b3c
  if (name.size() != 23 || name[8] != 'T' || name[15] != 'Z' || name[16] != '-') return std::nullopt;
  for (std::size_t i = 0; i < 15; ++i) {
    if (i != 8 && (name[i] < '0' || name[i] > '9')) return std::nullopt;
  }
  if (name.find_first_not_of("0123456789abcdef", 17) != std::string::npos) return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t size) { return std::stoi(name.substr(at, size)); };
  std::tm time{};
  time.tm_year = number(0, 4) - 1900;
  time.tm_mon = number(4, 2) - 1;
  time.tm_mday = number(6, 2);
  time.tm_hour = number(9, 2);
  time.tm_min = number(11, 2);
  time.tm_sec = number(13, 2);
  return timegm(&time);
}

bool is_run_name(const std::string& name) { return time_of_run_name(name).has_value(); }

RunFolder make_run_folder(const std::string& results) {
  const std::string above = absolute(results);
  if (above.empty()) throw RunError("results", fmt::format("there is no folder {}", one_line(results)));
  // The suffix is random: a name that is taken is tried again with another one.
  for (int attempt = 0; attempt < 100; ++attempt) {
    const RunFolder folder{above + "/" + make_run_id(std::time(nullptr))};
    if (mkdir(folder.path.c_str(), 0755) == 0) {
      const Descriptor opened(open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      if (opened) fsync(opened.get());
      return folder;
    }
    if (errno != EEXIST) break;
  }
  throw RunError("results", fmt::format("cannot make a folder in {}: {}", one_line(results), errno_text(errno)));
}

RunFolder find_run_folder(const std::string& path) {
  const RunFolder folder{absolute(path)};
  if (folder.path.empty()) throw UsageError(fmt::format("there is no folder {}", one_line(path)));
  if (is_file(folder.cells_file())) return folder;
  const std::vector<RunFolder> inside = runs_below(folder.path);
  throw UsageError(fmt::format(
      "{} is no folder of a matrix run: it has no cells.json{}", one_line(path),
      inside.empty() ? "" : fmt::format("; the newest run in it is {}/{}", one_line(path), inside.back().name())));
}

std::vector<RunFolder> runs_below(const std::string& results) {
  std::vector<RunFolder> runs;
  const std::string above = absolute(results);
  if (above.empty()) return runs;
  boost::system::error_code error;
  for (fs::directory_iterator entry(above, error), end; !error && entry != end; entry.increment(error)) {
    RunFolder folder{entry->path().string()};
    struct stat info {};
    // A symbolic link is not the tool's own.
    if (is_run_name(folder.name()) && lstat(folder.path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
        is_file(folder.cells_file())) {
      runs.push_back(std::move(folder));
    }
  }
  std::sort(runs.begin(), runs.end(), [](const RunFolder& a, const RunFolder& b) { return a.name() < b.name(); });
  return runs;
}

std::vector<std::string> result_files(const std::string& log) {
  std::vector<std::string> names;
  for (const Format* format : formats()) names.push_back(log + format->suffix);
  return names;
}

}  // namespace mongo
