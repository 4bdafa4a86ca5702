#include "harness/matrix/cell_list.h"

#include <fmt/format.h>

#include <boost/filesystem.hpp>
#include <map>
#include <set>

#include "harness/core/errors.h"
#include "harness/core/quote.h"
#include "harness/matrix/files.h"
#include "harness/plan/run_options.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

using Json = nlohmann::ordered_json;

constexpr int cells_schema = 1;

Json value_of(const RunRequest& request, const RunOption& option) {
  const std::string text = member_text(request, option);
  if (option.form == ValueForm::flag) return text == "true";
  return text.empty() ? Json(nullptr) : Json(valid_utf8(text));
}

/// All that was asked for.
Json asked_of(const RunRequest& request) {
  Json settings;
  for (const RunOption& option : run_options()) {
    if (!option.key.empty()) settings[option.key] = value_of(request, option);
  }
  return settings;
}

/// And what it means where that is not the same.
Json settings_of(const ListedCell& planned) {
  Json settings = asked_of(planned.cell.request);
  const Cell& cell = planned.cell;
  Json phases = Json::array();
  for (const phases::Phase* phase : cell.phases) phases.push_back(phase->name);
  settings["resolved"] = {{"processes", cell.processes},
                          {"repetitions", cell.repetitions},
                          {"profile", cell.profile.name},
                          {"phases", phases},
                          {"mount_options", valid_utf8(cell.mount_options)},
                          {"sync", sync_policy_name(cell.sync)},
                          {"content", phases::content_name(cell.content)},
                          {"space_bytes", planned.space_bytes}};
  return settings;
}

Json to_json(const ListedCell& planned) {
  Json parameters = Json::object();
  for (const auto& [name, value] : planned.parameters) parameters[valid_utf8(name)] = valid_utf8(value);
  return {{"log", planned.cell.log},
          {"id", planned.id},
          {"repeat", planned.repeat},
          {"parameters", parameters},
          {"settings", settings_of(planned)}};
}

/// Going through a large tree takes a while, and most cells share theirs.
class SpaceOfTrees {
 public:
  std::uint64_t of(const Cell& cell) {
    std::string key = cell.profile.name + fmt::format("/{}/{}", cell.processes, cell.repetitions);
    for (const phases::Phase* phase : cell.phases) key += fmt::format("/{}", phase->name);
    const auto [found, is_new] = known_.try_emplace(key, 0);
    if (is_new) found->second = working_set_bytes(cell);
    return found->second;
  }

 private:
  std::map<std::string, std::uint64_t> known_;
};

ListedCell plan_cell(const MatrixCell& source, SpaceOfTrees& space) {
  ListedCell planned{source.id, source.repeat, resolve(source.request), source.parameters, 0};
  planned.space_bytes = space.of(planned.cell);
  return planned;
}

/// No text of the reader's: it knows nothing of cells.
[[noreturn]] void fail_damaged(const RunFolder& folder) {
  throw UsageError(fmt::format("{} cannot be understood: it is damaged, or not of this tool. Begin a new run: {}",
                               one_line(folder.cells_file()), quote_argv({"mongo", "matrix", folder.matrix_file()})));
}

Json parse_cells(const RunFolder& folder) {
  const std::string path = folder.cells_file();
  const Json json = Json::parse(read_whole_file(path), nullptr, false);
  if (!json.is_object() || !json.contains("schema") || !json["schema"].is_number_integer()) fail_damaged(folder);
  if (json["schema"] != cells_schema) {
    throw UsageError(fmt::format(
        "{} is of another version of mongo: its schema is {}, this version reads {}. Use that version, or begin a new "
        "run: {}",
        one_line(path), json["schema"].dump(), cells_schema, quote_argv({"mongo", "matrix", folder.matrix_file()})));
  }
  return json;
}

std::string shown(const Json& value) {
  return value.is_null() ? "not given" : one_line(value.is_string() ? value.get<std::string>() : value.dump());
}

/// "sync is none, in the run it is phase" for each setting that is not the same.
std::vector<std::string> differences(const Json& now, const Json& before) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : before.items()) {
    const Json other = now.contains(key) ? now.at(key) : Json(nullptr);
    if (other == value) continue;
    if (value.is_object() && other.is_object()) {
      for (const std::string& text : differences(other, value)) texts.push_back(text);
    } else {
      // A default that is written out, or is not: a value beside nothing.
      const char* is = other.is_null() == value.is_null() || other.is_null() ? "is" : "is given as";
      const char* was = other.is_null() == value.is_null() || value.is_null() ? "it is" : "it is given as";
      texts.push_back(fmt::format("{} {} {}, in the run {} {}", one_line(key), is, shown(other), was, shown(value)));
    }
  }
  return texts;
}

/// In what the cell of the matrix that is nearest to the missing one differs from it; empty when none is near.
std::string nearest_differences(const Json& missing, const Json& earlier, const Matrix& matrix) {
  std::set<std::string> of_the_run;
  for (const Json& cell : earlier) of_the_run.insert(cell.at("log").get<std::string>());
  Json before = missing.at("settings");
  before.erase("resolved");
  std::vector<std::string> best;
  for (const MatrixCell& cell : matrix.cells) {
    if (cell.id == missing.at("id")) return "repeats is less than in the run";
    if (cell.repeat != missing.at("repeat") || of_the_run.count(cell.request.log) != 0) continue;
    std::vector<std::string> found = differences(asked_of(cell.request), before);
    if (best.empty() || found.size() < best.size()) best = std::move(found);
  }
  return fmt::format("{}", fmt::join(best, "; "));
}

enum class Source { of_the_run, given };

/// The planned cells in the order of the earlier ones, which they must equal.
std::vector<ListedCell> in_order_of(const Json& earlier, const Matrix& matrix, Source source, const std::string& name) {
  const auto fail = [source](const std::string& what) {
    throw UsageError(what + (source == Source::given
                                 ? ". Leave FILE out to go on with the run's own copy, or begin a new run without "
                                   "--resume"
                                 : ". The copy was changed, or this version of mongo plans it otherwise than the one "
                                   "that began the run. Begin a new run without --resume"));
  };
  SpaceOfTrees space;
  std::map<std::string, const MatrixCell*> by_log;
  for (const MatrixCell& cell : matrix.cells) by_log.emplace(cell.request.log, &cell);
  std::vector<ListedCell> cells;
  for (const Json& before : earlier) {
    const std::string log = before.at("log");
    const auto found = by_log.find(log);
    if (found == by_log.end()) {
      const std::string what = nearest_differences(before, earlier, matrix);
      fail(fmt::format("{} has no cell {}{}{}", name, one_line(log), what.empty() ? "" : ": ", what));
    }
    cells.push_back(plan_cell(*found->second, space));
    const std::vector<std::string> what = differences(settings_of(cells.back()), before.at("settings"));
    if (!what.empty()) fail(fmt::format("{}, cell {}: {}", name, one_line(log), fmt::join(what, "; ")));
    by_log.erase(found);
  }
  if (!by_log.empty()) fail(fmt::format("{} has a further cell {}", name, by_log.begin()->first));
  return cells;
}

}  // namespace

const char* order_name(MatrixOrder order) { return order == MatrixOrder::listed ? "listed" : "shuffled"; }

CellList plan_cells(const Matrix& matrix, MatrixOrder order, std::uint64_t seed) {
  CellList list;
  list.order = order;
  list.seed = seed;
  list.folder = boost::filesystem::current_path().string();
  list.matrix = matrix.text;
  list.warnings = matrix.warnings;
  SpaceOfTrees space;
  for (const std::size_t index : order_of(matrix, order, seed)) {
    list.cells.push_back(plan_cell(matrix.cells.at(index), space));
  }
  return list;
}

std::string to_text(const CellList& list, const std::string& run) {
  Json head = {{"schema", cells_schema},
               {"run", run},
               {"mongo_version", MONGO_VERSION},
               {"matrix", valid_utf8(list.matrix_path)},
               {"folder", valid_utf8(list.folder)},
               {"order", order_name(list.order)},
               {"seed", list.seed}};
  std::string text = head.dump();
  text.back() = ',';
  text += "\n\"cells\":[";
  for (std::size_t i = 0; i < list.cells.size(); ++i) text += (i == 0 ? "\n" : ",\n") + to_json(list.cells[i]).dump();
  return text + "\n]}\n";
}

CellListHead read_head(const RunFolder& folder) {
  const Json json = parse_cells(folder);
  try {
    return {json.at("order"), json.at("matrix"), json.at("seed")};
  } catch (const Json::exception&) {
    fail_damaged(folder);
  }
}

CellList read_cells(const RunFolder& folder, const std::string& path, const InterruptWatch* watch) {
  const Json json = parse_cells(folder);
  try {
    CellList list;
    list.order = json.at("order") == "listed" ? MatrixOrder::listed : MatrixOrder::shuffled;
    list.seed = json.at("seed");
    list.folder = json.at("folder");
    list.matrix_path = json.at("matrix");
    list.matrix = read_whole_file(folder.matrix_file());
    list.cells = in_order_of(json.at("cells"), parse_matrix(list.matrix, folder.matrix_file()), Source::of_the_run,
                             one_line(folder.matrix_file()));
    if (!path.empty()) {
      const Matrix given = read_matrix(path, watch);
      if (given.text != list.matrix) in_order_of(json.at("cells"), given, Source::given, one_line(path));
    }
    return list;
  } catch (const Json::exception&) {
    fail_damaged(folder);
  }
}

std::vector<CellState> waiting_cells(const CellList& list) {
  std::vector<CellState> cells;
  for (const ListedCell& planned : list.cells) cells.push_back({planned.id, planned.repeat, planned.cell.log});
  return cells;
}

}  // namespace mongo
