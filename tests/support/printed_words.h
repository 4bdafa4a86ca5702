#pragma once

#include <cstdio>
#include <string>
#include <vector>

// Reads back what the tool printed, written apart from the tool's own reader and writer of words.

namespace mongo::test {

/// The text as the tool prints it: control characters as \xNN.
inline std::string in_print(const std::string& text) {
  std::string all;
  for (const char c : text) {
    char hex[8];
    snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned char>(c));
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    all += control ? std::string(hex) : std::string(1, c);
  }
  return all;
}

/// The words of one line: plain, in single quotes, and \c. Nothing when a quote is not closed.
inline std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false, quoted = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '\'') {
      quoted = !quoted;
      in_word = true;
    } else if (c == ' ' && !quoted) {
      if (in_word) words.push_back(word);
      word.clear();
      in_word = false;
    } else {
      word += c == '\\' && !quoted && at + 1 < line.size() ? line[++at] : c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(word);
  return quoted ? std::vector<std::string>() : words;
}

}  // namespace mongo::test
