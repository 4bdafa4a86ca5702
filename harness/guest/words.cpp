#include "harness/guest/words.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

namespace mongo::guest {

std::string encode(const std::string& text) {
  std::string word = ":";
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain || (c != '\0' && std::strchr("/._-+,:", c) != nullptr)) {
      word += c;
    } else {
      word += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return word;
}

std::string decode(const std::string& word) {
  if (!word.starts_with(':')) return word;
  std::string text;
  for (std::size_t i = 1; i < word.size(); ++i) {
    if (word[i] == '%') {
      text += static_cast<char>(std::strtoul(word.substr(i + 1, 2).c_str(), nullptr, 16));
      i += 2;
    } else {
      text += word[i];
    }
  }
  return text;
}

}  // namespace mongo::guest
