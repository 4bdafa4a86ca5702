#include "harness/plan/matrix.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include "harness/core/descriptor.h"
#include "harness/core/errors.h"
#include "harness/core/quote.h"
#include "harness/plan/matrix_cells.h"
#include "harness/plan/matrix_value.h"

namespace mongo {
namespace {

constexpr std::size_t largest_file = 1 << 20;  // bytes
constexpr std::size_t hash_digits = 8, all_hash_digits = 16;

class MatrixBuilder {
 public:
  MatrixBuilder(const std::string& text, const std::string& name)
      : yaml_(text, name), document_(read_matrix_document(yaml_)) {
    matrix_.text = text;
    matrix_.repeats = document_.repeats;
  }

  Matrix build() {
    planned_ = plan_cells(yaml_, document_);
    complete_.reserve(planned_.size());
    for (const PlannedCell& cell : planned_) complete_.push_back(with_defaults(yaml_, document_, cell));
    remove_same();
    check_count();
    find_distinguishing();
    for (std::size_t i = 0; i < planned_.size(); ++i) add(i);
    matrix_.warnings = std::move(document_.warnings);
    return std::move(matrix_);
  }

 private:
  YamlPlace place_of(const PlannedCell& cell) const {
    for (const MatrixValue* value : cell.values) {
      if (value != nullptr) return value->place;
    }
    return yaml_.root().place;
  }

  std::string describe(const PlannedCell& cell) const {
    std::vector<std::string> parts;
    for (std::size_t key = 0; key < cell.values.size(); ++key) {
      if (cell.values[key] != nullptr) {
        parts.push_back(fmt::format("{} {}", matrix_keys()[key].name, printable(cell.values[key]->text)));
      }
    }
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  /// Two cells with the same parameters are one, however they came about.
  void remove_same() {
    std::set<std::string> ids;
    std::vector<PlannedCell> planned, complete;
    for (std::size_t i = 0; i < planned_.size(); ++i) {
      if (ids.insert(cell_id(complete_[i], all_hash_digits)).second) {
        planned.push_back(std::move(planned_[i]));
        complete.push_back(std::move(complete_[i]));
      } else {
        document_.warnings.push_back(yaml_.at(
            place_of(planned_[i]),
            fmt::format("the cell {} is the same as an earlier one; it is taken once", describe(planned_[i]))));
      }
    }
    planned_ = std::move(planned);
    complete_ = std::move(complete);
  }

  void check_count() const {
    const std::uint64_t all = std::uint64_t{planned_.size()} * static_cast<std::uint64_t>(matrix_.repeats);
    if (all <= most_matrix_cells) return;
    yaml_.fail(matrix_.repeats > 1 ? document_.repeats_place : yaml_.root().place,
               fmt::format("{}: {} cells, {} times each, are {} runs; at most {} are allowed",
                           matrix_.repeats > 1 ? "repeats" : "include", planned_.size(), matrix_.repeats, all,
                           most_matrix_cells));
  }

  /// The keys in which cells differ by what is said about them, those of the axes first.
  void find_distinguishing() {
    std::vector<std::size_t> order{find_matrix_key("filesystem")};
    for (const MatrixAxis& axis : document_.axes) order.push_back(axis.key);
    for (std::size_t key = 0; key < matrix_keys().size(); ++key) order.push_back(key);
    for (const std::size_t key : order) {
      const bool known = std::find(distinguishing_.begin(), distinguishing_.end(), key) != distinguishing_.end();
      const bool differs = std::any_of(planned_.begin(), planned_.end(), [&](const PlannedCell& cell) {
        return number(cell, key) != number(planned_[0], key);
      });
      if (!known && (differs || distinguishing_.empty())) distinguishing_.push_back(key);
    }
  }

  /// -1 where neither the cell nor the defaults say anything.
  int number(const PlannedCell& cell, std::size_t key) const {
    const MatrixValue* value = said(cell, key);
    return value == nullptr ? -1 : value->number;
  }

  const MatrixValue* said(const PlannedCell& cell, std::size_t key) const {
    if (cell.values[key] != nullptr) return cell.values[key];
    for (const MatrixSetting& setting : document_.defaults.settings) {
      if (setting.key == key) return &setting.value;
    }
    return nullptr;
  }

  RunRequest request_of(const PlannedCell& complete) const {
    RunRequest request;
    request.processes = "1";
    request.mount_point = default_mount_point;
    for (std::size_t key = 0; key < complete.values.size(); ++key) {
      const MatrixValue* value = complete.values[key];
      if (value != nullptr) set_member(request, *matrix_keys()[key].option, value->text);
    }
    return request;
  }

  void add(std::size_t index) {
    const PlannedCell& cell = planned_[index];
    const PlannedCell& complete = complete_[index];
    MatrixCell result;
    result.id = cell_id(complete, hash_digits);
    // Should the short hashes of two cells be the same, the later one has the long one.
    std::size_t& first = ids_.emplace(result.id, matrix_.cells.size()).first->second;
    if (first != matrix_.cells.size()) result.id = cell_id(complete, all_hash_digits);
    result.request = request_of(complete);
    check(cell, complete, result.request);
    for (const std::size_t key : distinguishing_) {
      const MatrixValue* value = key == find_matrix_key("filesystem") ? complete.values[key] : said(cell, key);
      if (value != nullptr) result.parameters.emplace_back(matrix_keys()[key].name, value->text);
    }
    for (int repeat = 1; repeat <= matrix_.repeats; ++repeat) {
      result.repeat = repeat;
      result.request.log = fmt::format("{}-r{}", result.id, repeat);
      matrix_.cells.push_back(result);
    }
  }

  /// What the values are together.
  void check(const PlannedCell& cell, const PlannedCell& complete, const RunRequest& request) const {
    for (const char* needed : {"filesystem", "device"}) {
      if (complete.values[find_matrix_key(needed)] != nullptr) continue;
      yaml_.fail(place_of(cell), fmt::format("{}: it is missing for the cell {}. Give it below matrix, defaults, or in "
                                             "the entry of include",
                                             needed, describe(cell)));
    }
    Cell whole;
    try {
      whole = resolve(request);
    } catch (const UsageError& error) {
      const std::string message = with_matrix_keys(printable(error.what()));
      std::size_t best = std::string::npos;
      std::size_t culprit = find_matrix_key("filesystem");
      for (std::size_t key = 0; key < complete.values.size(); ++key) {
        if (complete.values[key] == nullptr) continue;
        const std::size_t at = message.find(matrix_keys()[key].name);
        if (at < best) {
          best = at;
          culprit = key;
        }
      }
      yaml_.fail(complete.values[culprit]->place,
                 fmt::format("{}, in the cell {}", about_key(matrix_keys()[culprit].name, message), describe(cell)));
    }
    check_options_of(cell, complete, whole);
  }

  /// What the lists of options refuse is known before anything is run. What only mkfs or the kernel refuses is not.
  void check_options_of(const PlannedCell& cell, const PlannedCell& complete, const Cell& whole) const {
    try {
      check_options(whole);
    } catch (const UsageError& error) {
      const std::string message = printable(error.what());
      for (std::size_t key = 0; key < complete.values.size(); ++key) {
        const RunOption* option = matrix_keys()[key].option;
        if (option == nullptr || !message.starts_with(option->name + ": ")) continue;
        const MatrixValue* value = complete.values[key];
        yaml_.fail(value != nullptr ? value->place : place_of(cell),
                   fmt::format("{}{}. In the cell {}", matrix_keys()[key].name, message.substr(option->name.size()),
                               describe(cell)));
      }
      yaml_.fail(place_of(cell), message);
    }
  }

  const YamlDocument yaml_;
  MatrixDocument document_;
  Matrix matrix_;
  std::vector<PlannedCell> planned_, complete_;
  std::vector<std::size_t> distinguishing_;
  std::map<std::string, std::size_t> ids_;
};

}  // namespace

Matrix parse_matrix(const std::string& text, const std::string& name) {
  if (text.size() > largest_file) {
    throw UsageError(
        fmt::format("{}: it has more than {} bytes. Is it a matrix file? Divide a larger matrix into several files",
                    printable(name), largest_file));
  }
  return MatrixBuilder(text, name).build();
}

Matrix read_matrix(const std::string& path, const InterruptWatch* watch) {
  const auto fail = [&](int error) {
    throw UsageError(fmt::format("the matrix {} cannot be read: {}", printable(path), errno_text(error)));
  };
  // A FIFO without a writer keeps nobody in open() then, and poll() waits for the writer. Source: fifo(7).
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (file.get() < 0) fail(errno);
  std::string text;
  char buffer[65536];
  while (text.size() <= largest_file) {
    pollfd polled[] = {{file.get(), POLLIN, 0}, {watch != nullptr ? watch->descriptor() : -1, POLLIN, 0}};
    if (poll(polled, 2, -1) < 0 && errno != EINTR) fail(errno);
    if (watch != nullptr) watch->check();
    if (polled[0].revents == 0) continue;
    const ssize_t length = read(file.get(), buffer, sizeof buffer);
    if (length < 0 && errno != EINTR && errno != EAGAIN) fail(errno);
    if (length == 0) break;
    if (length > 0) text.append(buffer, static_cast<std::size_t>(length));
  }
  return parse_matrix(text, path);
}

}  // namespace mongo
