#pragma once

#include <array>
#include <fstream>
#include <optional>
#include <string>

#include "harness/core/trim.h"

// Small files of /proc and /sys. Private to harness/measure.

namespace mongo::measure {

/// Nothing when it cannot be read: some files of /sys can be opened and fail then.
inline std::optional<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::array<char, 4096> part{};
  // Not by an istreambuf_iterator, which throws when a read fails.
  while (file.read(part.data(), part.size()) || file.gcount() > 0) {
    text.append(part.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file.eof() || file.bad()) return std::nullopt;
  return text;
}

/// The content of a one-line file; "" when it cannot be read.
inline std::string line_of(const std::string& path) { return trimmed(read_text(path).value_or("")); }

}  // namespace mongo::measure
