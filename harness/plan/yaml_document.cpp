#include "harness/plan/yaml_document.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string_view>

#include "harness/core/errors.h"
#include "harness/core/quote.h"

namespace mongo {
namespace {

constexpr std::size_t deepest = 16;
// As the parser says it of "device: loop:" and "note: a: b".
constexpr const char* second_colon = "illegal map value";
constexpr const char* byte_order_mark = "\xef\xbb\xbf";

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// Bytes of the character that begins at `at`; 0 when it is not UTF-8 (RFC 3629: no overlong forms, no surrogates).
std::size_t utf8_length(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(at + i < text.size() ? text[at + i] : 0); };
  const unsigned char first = byte(0), second = byte(1);
  std::size_t length = 0;
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) length = 2;
  if (first >= 0xe0 && first <= 0xef) length = 3;
  if (first >= 0xf0 && first <= 0xf4) length = 4;
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
      (first == 0xf4 && second > 0x8f)) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if (at + i >= text.size() || !is_continuation(text[at + i])) return 0;
  }
  return length;
}

}  // namespace

/// Makes the tree from the parser's events. The parser's own tree would drop duplicate keys and further documents.
class YamlTreeBuilder : public YAML::EventHandler {
 public:
  explicit YamlTreeBuilder(YamlDocument& document) : document_(document) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (started_) {
      document_.fail(place(mark), "a second document begins here. Only one can be in a file");
    }
    started_ = true;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(make(mark, anchor)); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode* node = anchors_.at(anchor);
    const bool open = std::any_of(open_.begin(), open_.end(), [&](const Open& o) { return o.node == node; });
    if (open) document_.fail(place(mark), "this alias is inside of what it stands for");
    alias_ = place(mark);
    is_alias_ = true;
    add(node);
    is_alias_ = false;
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_tag(mark, tag);
    YamlNode* node = make(mark, anchor);
    node->kind = YamlNode::Kind::scalar;
    node->text = value;
    node->plain = tag == "?";
    add(node);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::sequence);
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::map);
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  struct Open {
    YamlNode* node;
    std::map<std::string, YamlPlace> keys;
    bool value_follows = false;  // a key of a map has been read
  };

  YamlPlace place(const YAML::Mark& mark) const {
    return document_.place_of(static_cast<std::size_t>(std::max(mark.line, 0)),
                              static_cast<std::size_t>(std::max(mark.column, 0)));
  }

  YamlNode* make(const YAML::Mark& mark, YAML::anchor_t anchor) {
    document_.nodes_.emplace_back();
    YamlNode* node = &document_.nodes_.back();
    node->place = place(mark);
    if (anchor != 0) anchors_[anchor] = node;
    return node;
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (tag == "?" || tag == "!" || tag.empty()) return;
    document_.fail(place(mark), fmt::format("the tag {} is not read here. Leave it out", printable(tag)));
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind) {
    check_tag(mark, tag);
    if (open_.size() >= deepest) document_.fail(place(mark), "lists and maps are nested too deeply");
    YamlNode* node = make(mark, anchor);
    node->kind = kind;
    add(node);
    open_.push_back({node, {}});
  }

  void add(const YamlNode* node) {
    if (open_.empty()) {
      document_.root_ = node;
      return;
    }
    Open& parent = open_.back();
    if (parent.node->kind == YamlNode::Kind::sequence) {
      parent.node->items.push_back(node);
    } else if (parent.value_follows) {
      parent.node->entries.back().value = node;
      parent.value_follows = false;
    } else {
      add_key(parent, *node);
    }
  }

  void add_key(Open& parent, const YamlNode& node) {
    const YamlPlace at = is_alias_ ? alias_ : node.place;
    if (node.kind != YamlNode::Kind::scalar) document_.fail(at, "a key must be a text");
    if (node.text == "<<") {
      document_.fail(at, "<<: merge keys are not read here. Write the keys out, or name them in option_sets");
    }
    const auto [first, is_new] = parent.keys.emplace(node.text, at);
    if (!is_new) {
      document_.fail(at, fmt::format("{}: the key is there twice, first in line {}. Remove one of them",
                                     printable(node.text), first->second.line));
    }
    parent.node->entries.push_back({node.text, at, nullptr});
    parent.value_follows = true;
  }

  YamlDocument& document_;
  std::map<YAML::anchor_t, YamlNode*> anchors_;
  std::vector<Open> open_;
  bool started_ = false;
  YamlPlace alias_;  // of the node that is being added
  bool is_alias_ = false;
};

YamlDocument::YamlDocument(const std::string& text, std::string name) : name_(std::move(name)) {
  normalise(text);
  check_characters();
  check_tabs();
  parse();
}

std::string YamlDocument::at(YamlPlace place, const std::string& message) const {
  return fmt::format("{}:{}:{}: {}", printable(name_), place.line, place.column, message);
}

void YamlDocument::fail(YamlPlace place, const std::string& message) const { throw UsageError(at(place, message)); }

void YamlDocument::normalise(const std::string& text) {
  text_.reserve(text.size());
  for (std::size_t i = text.starts_with(byte_order_mark) ? 3 : 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "\r\n") != 0) text_ += text[i];
  }
  lines_.push_back(0);
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') lines_.push_back(i + 1);
  }
}

YamlPlace YamlDocument::place_of(std::size_t line, std::size_t byte) const {
  line = std::min(line, lines_.size() - 1);
  const std::size_t end = std::min(lines_[line] + byte, text_.size());
  const YamlPlace begin{static_cast<int>(line) + 1, 1};
  // On from the last place: all may stand in one line.
  if (last_place_.line != begin.line || last_byte_ > end) {
    last_place_ = begin;
    last_byte_ = lines_[line];
  }
  for (; last_byte_ < end; ++last_byte_) last_place_.column += is_continuation(text_[last_byte_]) ? 0 : 1;
  return last_place_;
}

void YamlDocument::check_characters() const {
  std::size_t line = 0;
  for (std::size_t i = 0; i < text_.size();) {
    while (line + 1 < lines_.size() && lines_[line + 1] <= i) ++line;
    const std::size_t length = utf8_length(text_, i);
    const auto byte = static_cast<unsigned char>(text_[i]);
    if (length == 0) fail(place_of(line, i - lines_[line]), fmt::format("the byte 0x{:02x} is not UTF-8", byte));
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f) {
      fail(place_of(line, i - lines_[line]), fmt::format("the control character 0x{:02x} cannot be here", byte));
    }
    // The parser passes over one that is first in a document, also where another was before it.
    if (text_.compare(i, 3, byte_order_mark) == 0) {
      fail(place_of(line, i - lines_[line]), "a byte order mark can only be at the beginning of the file, and once");
    }
    i += length;
  }
}

/// The parser's own words for a tab in the indentation do not mention it.
void YamlDocument::check_tabs() const {
  for (std::size_t line = 0; line < lines_.size(); ++line) {
    const std::size_t content = std::min(text_.find_first_not_of(' ', lines_[line]), text_.size());
    if (content < text_.size() && text_[content] == '\t') {
      fail(place_of(line, content - lines_[line]), "a tab at the beginning of a line: YAML is indented by blanks only");
    }
  }
}

void YamlDocument::parse() {
  std::istringstream in(text_);
  YamlTreeBuilder builder(*this);
  try {
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) continue;
  } catch (const YAML::Exception& error) {
    const YamlPlace place = place_of(static_cast<std::size_t>(std::max(error.mark.line, 0)),
                                     static_cast<std::size_t>(std::max(error.mark.column, 0)));
    const std::size_t begin = lines_[static_cast<std::size_t>(place.line) - 1];
    const bool tab =
        std::string_view(text_).substr(begin, text_.find('\n', begin) - begin).find('\t') != std::string_view::npos;
    fail(place,
         fmt::format(
             "this is no YAML: {}{}{}", error.msg,
             error.msg == second_colon ? ". A text that holds ': ' or has a ':' at its end must be in quotes" : "",
             tab ? " (there is a tab in this line)" : ""));
  }
  if (root_ == nullptr) {
    nodes_.emplace_back();
    root_ = &nodes_.back();
  }
}

}  // namespace mongo
