#pragma once

#include <string>

namespace mongo {

/// Without blanks and line ends at both ends.
inline std::string trimmed(const std::string& text) {
  constexpr const char* blanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blanks);
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Without blanks at the end, as lines of a table are written.
inline std::string right_trimmed(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace mongo
