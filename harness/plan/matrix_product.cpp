#include <fmt/format.h>

#include <algorithm>

#include "harness/plan/matrix.h"
#include "harness/plan/matrix_cells.h"

namespace mongo {
namespace {

/// Refused before anything is made: a small file can ask for more than fits into memory.
std::size_t product_size(const YamlDocument& yaml, const MatrixDocument& document) {
  std::uint64_t product = 1;
  bool overflow = false;
  std::vector<std::string> factors;
  for (const MatrixAxis& axis : document.axes) {
    overflow = __builtin_mul_overflow(product, std::uint64_t{axis.values.size()}, &product) || overflow;
    factors.push_back(std::to_string(axis.values.size()));
  }
  if (overflow || product > most_matrix_cells) {
    yaml.fail(document.axes.front().place,
              fmt::format("matrix: the axes make {} = {} cells, more than the {} that are allowed before exclude",
                          fmt::join(factors, " x "), overflow ? "more than 2^64" : std::to_string(product),
                          most_matrix_cells));
  }
  return product;
}

std::vector<PlannedCell> product_of(const YamlDocument& yaml, const MatrixDocument& document) {
  if (document.axes.empty()) return {};
  std::vector<PlannedCell> cells(product_size(yaml, document));
  std::size_t run = cells.size();  // cells in a row with the same value of the axis
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i].values.resize(matrix_keys().size());
  for (const MatrixAxis& axis : document.axes) {
    run /= axis.values.size();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      cells[i].values[axis.key] = &axis.values[i / run % axis.values.size()];
    }
  }
  return cells;
}

/// Whether the cell has the value.
bool agrees(const PlannedCell& cell, const MatrixSetting& setting) {
  const MatrixValue* value = cell.values[setting.key];
  return value != nullptr && value->number == setting.value.number;
}

void exclude(const YamlDocument& yaml, MatrixDocument& document, std::vector<PlannedCell>& cells) {
  if (document.axes.empty() && !document.exclude.empty()) {
    yaml.fail(document.exclude[0].place, "exclude: there is nothing to take from without matrix");
  }
  const std::size_t before = cells.size();
  for (const MatrixEntry& entry : document.exclude) {
    const auto matches = [&](const PlannedCell& cell) {
      return std::all_of(entry.settings.begin(), entry.settings.end(),
                         [&](const MatrixSetting& setting) { return agrees(cell, setting); });
    };
    if (std::erase_if(cells, matches) == 0) {
      std::string why;
      for (const MatrixSetting& setting : entry.settings) {
        const bool axis = std::any_of(document.axes.begin(), document.axes.end(),
                                      [&](const MatrixAxis& a) { return a.key == setting.key; });
        if (!axis && why.empty()) why = fmt::format(": {} is no axis", matrix_keys()[setting.key].name);
      }
      document.warnings.push_back(yaml.at(entry.place, fmt::format("exclude: this entry matches no cell{}", why)));
    }
    if (cells.empty()) yaml.fail(entry.place, fmt::format("exclude: no cell of {} is left", before));
  }
}

void include(const YamlDocument& yaml, MatrixDocument& document, std::vector<PlannedCell>& cells) {
  std::vector<bool> is_axis(matrix_keys().size());
  for (const MatrixAxis& axis : document.axes) is_axis[axis.key] = true;
  const std::size_t of_product = cells.size();
  for (const MatrixEntry& entry : document.include) {
    std::vector<const MatrixSetting*> conditions, additions;
    for (const MatrixSetting& setting : entry.settings) {
      (is_axis[setting.key] ? conditions : additions).push_back(&setting);
    }
    bool found = false;
    for (std::size_t i = 0; i < of_product; ++i) {
      const bool match = std::all_of(conditions.begin(), conditions.end(),
                                     [&](const MatrixSetting* setting) { return agrees(cells[i], *setting); });
      if (!match) continue;
      found = true;
      for (const MatrixSetting* setting : additions) cells[i].values[setting->key] = &setting->value;
    }
    if (!found) {
      cells.emplace_back().values.resize(matrix_keys().size());
      for (const MatrixSetting& setting : entry.settings) cells.back().values[setting.key] = &setting.value;
    } else if (additions.empty()) {
      document.warnings.push_back(
          yaml.at(entry.place,
                  "include: this entry changes nothing: all of its keys are axes, and there are such cells already"));
    }
  }
}

}  // namespace

std::vector<PlannedCell> plan_cells(const YamlDocument& yaml, MatrixDocument& document) {
  std::vector<PlannedCell> cells = product_of(yaml, document);
  exclude(yaml, document, cells);
  include(yaml, document, cells);
  if (cells.empty()) {
    yaml.fail(yaml.root().place,
              "no cells: there is neither matrix nor include. Name the file systems, as in "
              "matrix: {filesystem: [ext4, xfs]}");
  }
  return cells;
}

PlannedCell with_defaults(const YamlDocument& yaml, const MatrixDocument& document, const PlannedCell& cell) {
  PlannedCell complete;
  complete.values.resize(matrix_keys().size());
  for (const MatrixSetting& setting : document.defaults.settings) complete.values[setting.key] = &setting.value;
  if (const MatrixValue* name = cell.values[option_set_key]) {
    for (const MatrixSetting& setting : document.option_sets.at(name->text).settings) {
      if (const MatrixValue* own = cell.values[setting.key]) {
        yaml.fail(own->place, fmt::format("{}: the option set '{}' says it too, in line {}, for the same cell. Remove "
                                          "one of them",
                                          matrix_keys()[setting.key].name, name->text, setting.place.line));
      }
      complete.values[setting.key] = &setting.value;
    }
  }
  for (std::size_t key = 0; key < cell.values.size(); ++key) {
    if (key != option_set_key && cell.values[key] != nullptr) complete.values[key] = cell.values[key];
  }
  return complete;
}

}  // namespace mongo
