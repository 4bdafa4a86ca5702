#include "harness/report/compare_grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/trim.h"

namespace mongo {
namespace {

constexpr std::size_t narrowest_column = 8;

}  // namespace

std::string compare_grid(const std::vector<CompareRow>& rows, const std::vector<ColumnName>& names) {
  std::size_t label_width = 8;
  for (const CompareRow& row : rows) label_width = std::max(label_width, row.label.size());
  std::size_t heading_lines = 0;
  std::vector<std::size_t> figure_width(names.size());
  std::vector<std::size_t> mark_width(names.size());
  const auto mark_at = [](const std::string& cell) { return std::min({cell.find(" ["), cell.find('*'), cell.size()}); };
  for (std::size_t c = 0; c < names.size(); ++c) {
    heading_lines = std::max(heading_lines, names[c].lines.size());
    for (const CompareRow& row : rows) {
      const std::size_t mark = mark_at(row.cells[c]);
      figure_width[c] = std::max(figure_width[c], mark);
      mark_width[c] = std::max(mark_width[c], row.cells[c].size() - mark);
    }
    std::size_t width = std::max(narrowest_column, figure_width[c] + mark_width[c]);
    for (const std::string& line : names[c].lines) width = std::max(width, line.size());
    figure_width[c] = width - mark_width[c];
  }
  std::string out;
  std::size_t total = label_width;
  for (std::size_t line = 0; line < heading_lines; ++line) {
    std::string text = fmt::format("{:<{}}", "", label_width);
    for (std::size_t c = 0; c < names.size(); ++c) {
      text += fmt::format(" {:>{}}", line < names[c].lines.size() ? names[c].lines[line] : "",
                          figure_width[c] + mark_width[c]);
    }
    total = std::max(total, text.size());
    out += right_trimmed(text) + "\n";
  }
  out += std::string(total, '-') + "\n";
  for (const CompareRow& row : rows) {
    std::string text = fmt::format("{:<{}}", row.label, label_width);
    for (std::size_t c = 0; c < names.size(); ++c) {
      const std::size_t mark = mark_at(row.cells[c]);
      text += fmt::format(" {:>{}}{:<{}}", row.cells[c].substr(0, mark), figure_width[c], row.cells[c].substr(mark),
                          mark_width[c]);
    }
    out += right_trimmed(text) + "\n";
  }
  return out;
}

}  // namespace mongo
