#pragma once

#include <string>

#include "harness/core/errors.h"
#include "harness/plan/matrix.h"

namespace mongo {

/// The message with which the text is refused; empty when it is taken.
inline std::string refusal_of(const std::string& text) {
  try {
    parse_matrix(text, "m.yaml");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

inline std::string on_a_device(const std::string& rest) { return "device: loop:2GiB\n" + rest; }

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// "ext4 1|xfs 4 -m reflink=0": what each cell is about.
inline std::string cells_of(const Matrix& matrix) {
  std::string all;
  for (const MatrixCell& cell : matrix.cells) {
    std::string words;
    for (const auto& [key, value] : cell.parameters) words += (words.empty() ? "" : " ") + value;
    all += (all.empty() ? "" : "|") + words;
  }
  return all;
}

}  // namespace mongo
