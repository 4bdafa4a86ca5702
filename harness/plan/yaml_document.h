#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace mongo {

/// Where something stands in a text; both count from 1, the column in characters.
struct YamlPlace {
  int line = 1, column = 1;
};

/// A value of a YAML document as it was written: nothing is taken for a number or a truth value here.
struct YamlNode {
  enum class Kind { null, scalar, sequence, map };
  Kind kind = Kind::null;
  YamlPlace place;
  std::string text;   // of a scalar
  bool plain = true;  // a scalar without quotes
  std::vector<const YamlNode*> items;
  struct Entry {
    std::string key;
    YamlPlace place;
    const YamlNode* value;
  };
  std::vector<Entry> entries;  // of a map, in the order of the text
};

/// One YAML document, read strictly. Refused beyond what YAML refuses: keys that are there twice, keys that are no
/// plain texts, merge keys, tags, tabs at the beginning of a line, a second document, deep nesting, anything but UTF-8.
/// Anchors and aliases may be used. A byte order mark and CRLF are taken.
class YamlDocument {
 public:
  /// Throws UsageError "NAME:LINE:COLUMN: ..."; `name` stands for the file.
  YamlDocument(const std::string& text, std::string name);
  YamlDocument(const YamlDocument&) = delete;
  YamlDocument& operator=(const YamlDocument&) = delete;

  /// Of kind null when the text holds nothing.
  const YamlNode& root() const { return *root_; }

  [[noreturn]] void fail(YamlPlace place, const std::string& message) const;
  /// "NAME:LINE:COLUMN: message"
  std::string at(YamlPlace place, const std::string& message) const;

 private:
  friend class YamlTreeBuilder;
  void normalise(const std::string& text);
  void check_characters() const;
  void check_tabs() const;
  void parse();
  YamlPlace place_of(std::size_t line, std::size_t byte) const;

  std::string name_;
  std::string text_;                // without a byte order mark, lines ended by \n alone
  std::vector<std::size_t> lines_;  // where they begin
  std::deque<YamlNode> nodes_;      // owns all; an alias is a second pointer to a node
  const YamlNode* root_ = nullptr;
  mutable YamlPlace last_place_;  // the last answer of place_of
  mutable std::size_t last_byte_ = 0;
};

}  // namespace mongo
