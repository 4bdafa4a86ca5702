#pragma once

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace failing {

/// Which calls of which kind are to go wrong: "write:5:EIO" is the fifth write and all later ones, "write:5x2:EIO" the
/// fifth and the sixth. Without an error number for what is no failed call: "short-write:3", "corrupt:1x1".
class Rules {
 public:
  /// Throws std::invalid_argument.
  void add(const std::string& text) {
    const std::size_t first = text.find(':');
    const std::size_t second = text.find(':', first == std::string::npos ? first : first + 1);
    Rule rule;
    rule.what = text.substr(0, first);
    const char* position = text.data() + (first == std::string::npos ? text.size() : first + 1);
    const char* const end = text.data() + (second == std::string::npos ? text.size() : second);
    position = number(position, end, rule.first);
    if (position != end && position != nullptr && *position == 'x') position = number(position + 1, end, rule.count);
    if (second != std::string::npos) rule.error = error_of_name(text.substr(second + 1));
    if (position != end || rule.first == 0 || rule.what.empty()) throw std::invalid_argument("no rule: " + text);
    rules_.push_back(rule);
  }

  void clear() { rules_.clear(); }

  /// Counts one call of this kind; whether it is to go wrong.
  bool meets(std::string_view what) { return find(what) != nullptr; }

  /// The same; the error number that the call is to fail with, or 0.
  int error(std::string_view what) {
    const Rule* rule = find(what);
    return rule == nullptr ? 0 : rule->error;
  }

 private:
  struct Rule {
    std::string what;
    std::uint64_t first = 0;
    std::uint64_t count = UINT64_MAX;
    int error = 0;
    std::uint64_t seen = 0;
  };

  /// Where the number ends, or null.
  static const char* number(const char* begin, const char* end, std::uint64_t& value) {
    const auto [after, fault] = std::from_chars(begin, end, value);
    return fault == std::errc{} ? after : nullptr;
  }

  static int error_of_name(const std::string& name) {
    static constexpr std::pair<std::string_view, int> names[] = {
        {"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EMLINK", EMLINK},      {"EACCES", EACCES},
        {"EROFS", EROFS},   {"EINTR", EINTR},   {"ENOMEM", ENOMEM}, {"ESTALE", ESTALE},      {"ENOENT", ENOENT},
        {"EMFILE", EMFILE}, {"EFBIG", EFBIG},   {"EPERM", EPERM},   {"ENOTEMPTY", ENOTEMPTY}};
    for (const auto& [known, error] : names) {
      if (known == name) return error;
    }
    throw std::invalid_argument("no error number: " + name);
  }

  const Rule* find(std::string_view what) {
    const Rule* met = nullptr;
    for (Rule& rule : rules_) {
      if (rule.what != what) continue;
      ++rule.seen;
      if (rule.seen >= rule.first && rule.seen - rule.first < rule.count) met = &rule;
    }
    return met;
  }

  std::vector<Rule> rules_;
};

}  // namespace failing
