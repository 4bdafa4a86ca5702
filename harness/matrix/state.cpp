#include "harness/matrix/state.h"

#include <fmt/format.h>

#include "harness/core/errors.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

using Json = nlohmann::ordered_json;

constexpr int state_schema = 2;

constexpr std::pair<CellStatus, const char*> names[] = {
    {CellStatus::waiting, "waiting"}, {CellStatus::running, "running"},
    {CellStatus::ok, "ok"},           {CellStatus::incomplete, "incomplete"},
    {CellStatus::failed, "failed"},   {CellStatus::unsupported, "unsupported"},
    {CellStatus::skipped, "skipped"}, {CellStatus::interrupted, "interrupted"},
};

CellStatus parse_cell_status(const std::string& name) {
  for (const auto& [status, text] : names) {
    if (name == text) return status;
  }
  throw std::invalid_argument("there is no status " + name);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(valid_utf8(text)); }

std::string text_of(const Json& json) { return json.is_null() ? "" : json.get<std::string>(); }

/// Runs that were begun with an earlier version do not have it.
std::string offset_of(const Json& json) { return json.contains("utc_offset") ? text_of(json.at("utc_offset")) : ""; }

}  // namespace

const char* cell_status_name(CellStatus status) {
  for (const auto& [value, name] : names) {
    if (value == status) return name;
  }
  return "unknown";
}

CellStatus cell_status(Status status) {
  switch (status) {
    case Status::ok:
      return CellStatus::ok;
    case Status::incomplete:
      return CellStatus::incomplete;
    case Status::failed:
      return CellStatus::failed;
    case Status::unsupported:
      return CellStatus::unsupported;
    case Status::interrupted:
      return CellStatus::interrupted;
    case Status::skipped:
      return CellStatus::skipped;
  }
  return CellStatus::failed;
}

bool is_done(CellStatus status) {
  return status == CellStatus::ok || status == CellStatus::incomplete || status == CellStatus::failed ||
         status == CellStatus::unsupported;
}

Json to_json(const CellState& cell) {
  return {{"log", cell.log},
          {"id", cell.id},
          {"repeat", cell.repeat},
          {"status", cell_status_name(cell.status)},
          {"reason", text_or_null(cell.reason)},
          {"started_at", text_or_null(cell.started_at)},
          {"ended_at", text_or_null(cell.ended_at)},
          {"utc_offset", text_or_null(cell.utc_offset)},
          {"seconds", cell.seconds ? Json(*cell.seconds) : Json(nullptr)},
          {"used_bytes", cell.used_bytes ? Json(*cell.used_bytes) : Json(nullptr)}};
}

namespace {

Json to_json(const PlannedDevice& device) {
  return {{"given", valid_utf8(device.given)},
          {"major_minor", device.major_minor},
          {"size_bytes", device.size_bytes},
          {"serial", text_or_null(device.serial)},
          {"backing", text_or_null(device.backing)}};
}

PlannedDevice device_from_json(const Json& json) {
  return {json.at("given"), json.at("major_minor"), json.at("size_bytes"), text_of(json.at("serial")),
          text_of(json.at("backing"))};
}

CellState cell_from_json(const Json& json) {
  CellState cell;
  cell.id = json.at("id");
  cell.repeat = json.at("repeat");
  cell.log = json.at("log");
  cell.status = parse_cell_status(json.at("status"));
  cell.reason = text_of(json.at("reason"));
  cell.started_at = text_of(json.at("started_at"));
  cell.ended_at = text_of(json.at("ended_at"));
  cell.utc_offset = offset_of(json);
  if (!json.at("seconds").is_null()) cell.seconds = json.at("seconds").get<double>();
  if (!json.at("used_bytes").is_null()) cell.used_bytes = json.at("used_bytes").get<std::uint64_t>();
  return cell;
}

}  // namespace

std::string state_to_text(const MatrixState& state) {
  Json devices = Json::array();
  for (const PlannedDevice& device : state.devices) devices.push_back(to_json(device));
  Json head = {{"schema", state_schema},
               {"run", state.run},
               {"mongo_version", state.mongo_version},
               {"host", text_or_null(state.host)},
               {"started_at", state.started_at},
               {"ended_at", text_or_null(state.ended_at)},
               {"utc_offset", text_or_null(state.utc_offset)},
               {"reason", text_or_null(state.reason)},
               {"devices", devices}};
  // A cell a line: for people who look into the file, and for diff.
  std::string text = head.dump();
  text.back() = ',';
  text += "\n\"cells\":[";
  for (std::size_t i = 0; i < state.cells.size(); ++i) {
    text += (i == 0 ? "\n" : ",\n") + to_json(state.cells[i]).dump();
  }
  return text + "\n]}\n";
}

MatrixState state_from_text(const std::string& text, const std::string& name) {
  try {
    const Json json = Json::parse(text);
    if (json.at("schema") != state_schema) throw std::invalid_argument("it is of another version of mongo");
    MatrixState state;
    state.run = json.at("run");
    state.mongo_version = json.at("mongo_version");
    state.host = text_of(json.at("host"));
    state.started_at = json.at("started_at");
    state.ended_at = text_of(json.at("ended_at"));
    state.utc_offset = offset_of(json);
    state.reason = text_of(json.at("reason"));
    for (const Json& item : json.at("devices")) state.devices.push_back(device_from_json(item));
    for (const Json& item : json.at("cells")) state.cells.push_back(cell_from_json(item));
    return state;
  } catch (const Json::exception&) {
    throw UsageError(fmt::format("{} is damaged: it is not what this tool has written", one_line(name)));
  } catch (const std::exception& error) {
    throw UsageError(fmt::format("{} cannot be understood: {}", one_line(name), one_line(error.what())));
  }
}

StatusCounts count_cells(const std::vector<CellState>& cells) {
  StatusCounts counts;
  for (const CellState& cell : cells) {
    switch (cell.status) {
      case CellStatus::waiting:
        ++counts.waiting;
        break;
      case CellStatus::running:
        ++counts.running;
        break;
      case CellStatus::ok:
        ++counts.ok;
        break;
      case CellStatus::incomplete:
        ++counts.incomplete;
        break;
      case CellStatus::failed:
        ++counts.failed;
        break;
      case CellStatus::unsupported:
        ++counts.unsupported;
        break;
      case CellStatus::skipped:
        ++counts.skipped;
        break;
      case CellStatus::interrupted:
        ++counts.interrupted;
        break;
    }
  }
  return counts;
}

std::string counts_text(const StatusCounts& counts) {
  std::string text;
  const auto add = [&](int count, CellStatus status) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, cell_status_name(status));
  };
  add(counts.ok, CellStatus::ok);
  add(counts.incomplete, CellStatus::incomplete);
  add(counts.failed, CellStatus::failed);
  add(counts.unsupported, CellStatus::unsupported);
  add(counts.skipped, CellStatus::skipped);
  add(counts.interrupted, CellStatus::interrupted);
  add(counts.running, CellStatus::running);
  add(counts.waiting, CellStatus::waiting);
  return text;
}

std::optional<double> CellProgress::files_per_second() const {
  if (files_done == 0 || seconds <= 0) return std::nullopt;
  return static_cast<double>(files_done) / seconds;
}

Json to_json(const CellProgress& progress) {
  const std::optional<double> rate = progress.files_per_second();
  return {{"log", progress.log},
          {"phase", progress.phase},
          {"median_file_size_bytes", progress.median_file_size_bytes},
          {"files_done", progress.files_done},
          {"files_planned", progress.files_planned},
          {"seconds", progress.seconds},
          {"files_per_second", rate ? Json(*rate) : Json(nullptr)}};
}

std::optional<CellProgress> progress_from_json(const Json& json) {
  try {
    CellProgress progress;
    progress.log = json.at("log");
    progress.phase = json.at("phase");
    progress.median_file_size_bytes = json.at("median_file_size_bytes");
    progress.files_done = json.at("files_done");
    progress.files_planned = json.at("files_planned");
    progress.seconds = json.at("seconds");
    return progress;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace mongo
