#pragma once

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstring>

namespace mongo::phases {

/// A file name with something appended. May be longer than the kernel allows a name to be, which it will say itself.
class SuffixedName {
 public:
  template <std::size_t size>
  SuffixedName(const char* name, const char (&suffix)[size]) {
    static_assert(size <= room);
    const std::size_t length = std::min<std::size_t>(std::strlen(name), NAME_MAX);
    std::memcpy(text_, name, length);
    std::memcpy(text_ + length, suffix, size);
  }
  const char* text() const { return text_; }

 private:
  static constexpr std::size_t room = 8;
  char text_[NAME_MAX + room];
};

}  // namespace mongo::phases
