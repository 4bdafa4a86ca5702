#include "harness/core/quote.h"

#include <fmt/format.h>

namespace mongo {

std::string quote_argv(const std::vector<std::string>& argv) {
  std::string out;
  for (const std::string& argument : argv) {
    if (!out.empty()) out += ' ';
    const bool plain = !argument.empty() && argument.find_first_not_of(
                                                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                                "%+,-./:=@_^") == std::string::npos;
    if (plain) {
      out += argument;
      continue;
    }
    out += '\'';
    for (const char c : argument) {
      if (c == '\'') {
        out += "'\\''";
      } else {
        out += c;
      }
    }
    out += '\'';
  }
  return out;
}

std::string printable(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace mongo
