#include "harness/matrix/record_list.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "harness/core/descriptor.h"
#include "harness/core/errors.h"
#include "harness/matrix/files.h"
#include "harness/report/record_json.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void fail(const std::string& what, const std::string& path, int error) {
  throw RunError("results", fmt::format("{} {}: {}", what, one_line(path), errno_text(error)));
}

/// The record without its phases, which are most of it.
Json parse_head(const std::string& line) {
  return Json::parse(
      line,
      [](int depth, Json::parse_event_t event, Json& parsed) {
        return !(depth == 1 && event == Json::parse_event_t::key && parsed == Json("passes"));
      },
      false);
}

}  // namespace

std::vector<DoneCell> read_done_cells(const std::string& path) {
  const std::string text = read_whole_file(path);
  std::vector<DoneCell> done;
  std::size_t number = 0;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    ++number;
    try {
      const Json json = parse_head(text.substr(at, end - at));
      const auto text_at = [&json](const char* key) {
        return json.at(key).is_null() ? std::string() : json.at(key).get<std::string>();
      };
      const std::string offset = json.contains("utc_offset") ? text_at("utc_offset") : "";  // earlier ones lack it
      const std::optional<Status> status = parse_status(text_at("status"));
      if (!status) throw std::invalid_argument("there is no status " + text_at("status"));
      done.push_back({text_at("log"), cell_status(*status), text_at("reason"), text_at("started_at"),
                      text_at("ended_at"), offset});
    } catch (const std::exception& error) {
      throw UsageError(
          fmt::format("{}:{}: this is no record of a cell: {}", one_line(path), number, one_line(error.what())));
    }
  }
  return done;
}

std::size_t count_records(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  std::size_t lines = 0;
  char buffer[65536];
  for (ssize_t got = 0; file && (got = ::read(file.get(), buffer, sizeof buffer)) > 0;) {
    lines += static_cast<std::size_t>(std::count(buffer, buffer + got, '\n'));
  }
  return lines;
}

bool cut_torn_line(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file) fail("cannot open", path, errno);
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  off_t whole = size;
  char buffer[65536];
  // Backwards to the last line end.
  for (bool found = size <= 0; !found;) {
    const off_t from = std::max<off_t>(0, whole - static_cast<off_t>(sizeof buffer));
    const ssize_t got = ::pread(file.get(), buffer, static_cast<std::size_t>(whole - from), from);
    if (got != whole - from) fail("cannot read", path, got < 0 ? errno : EIO);
    const std::size_t newline = std::string_view(buffer, static_cast<std::size_t>(got)).rfind('\n');
    found = newline != std::string_view::npos || from == 0;
    whole = newline == std::string_view::npos ? from : from + static_cast<off_t>(newline) + 1;
  }
  if (whole != size && (::ftruncate(file.get(), whole) != 0 || ::fsync(file.get()) != 0)) {
    fail("cannot cut off the broken last line of", path, errno);
  }
  return whole != size;
}

void add_record(const std::string& path, const RunRecord& record) {
  const std::string line = to_json_line(record) + "\n";
  const Descriptor file(::open(path.c_str(), O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC));
  if (!file) fail("cannot open", path, errno);
  struct stat before {};
  if (::fstat(file.get(), &before) != 0) fail("cannot look at", path, errno);
  int error = 0;
  for (std::size_t done = 0; done < line.size() && error == 0;) {
    const ssize_t wrote = ::write(file.get(), line.data() + done, line.size() - done);
    if (wrote > 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (wrote == 0 || errno != EINTR) {
      error = wrote == 0 ? EIO : errno;
    }
  }
  if (error == 0 && ::fsync(file.get()) != 0) error = errno;
  if (error == 0) return;
  if (::ftruncate(file.get(), before.st_size) == 0) ::fsync(file.get());
  fail("cannot add to", path, error);
}

std::vector<CellState> states_to_resume(std::vector<CellState> cells, const std::vector<DoneCell>& done) {
  std::map<std::string, const DoneCell*> by_log;
  for (const DoneCell& cell : done) by_log.emplace(cell.log, &cell);
  for (CellState& cell : cells) {
    const auto found = by_log.find(cell.log);
    if (found == by_log.end()) {
      cell = CellState{cell.id, cell.repeat, cell.log};
      continue;
    }
    const DoneCell& record = *found->second;
    // Killed after the record was written and before the state was.
    if (cell.status != record.status) {
      cell =
          CellState{cell.id, cell.repeat, cell.log, record.status, record.reason, record.started_at, record.ended_at};
      cell.utc_offset = record.utc_offset;
    }
  }
  return cells;
}

}  // namespace mongo
