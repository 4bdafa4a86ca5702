#pragma once

#include <charconv>
#include <cstdint>

namespace mongo::phases {

/// A file name that is a number, with or without a prefix of one letter: "17", "d3".
class DecimalName {
 public:
  explicit DecimalName(std::uint64_t number) { finish(text_, number); }
  DecimalName(char prefix, std::uint64_t number) {
    text_[0] = prefix;
    finish(text_ + 1, number);
  }
  const char* text() const { return text_; }

 private:
  void finish(char* begin, std::uint64_t number) { *std::to_chars(begin, text_ + sizeof text_ - 1, number).ptr = '\0'; }

  char text_[24];
};

}  // namespace mongo::phases
