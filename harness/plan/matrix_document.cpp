#include "harness/plan/matrix_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/core/errors.h"
#include "harness/core/quote.h"
#include "harness/plan/matrix.h"
#include "harness/plan/matrix_value.h"
#include "harness/plan/words.h"

namespace mongo {
namespace {

constexpr std::size_t longest_name = 60;  // of an option set
constexpr const char* name_characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.+";

std::string cut(const std::string& text) { return printable(text.size() <= 60 ? text : text.substr(0, 57) + "..."); }

/// The name that is near, or the only one that begins with the word: mkfs for mkfs_options.
std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  if (!near.empty() || word.size() < 3) return near;
  const auto is_longer = [&](const std::string& name) { return name.starts_with(word); };
  return std::count_if(known.begin(), known.end(), is_longer) == 1
             ? *std::find_if(known.begin(), known.end(), is_longer)
             : "";
}

std::string not_known(const std::string& name, const std::vector<std::string>& known) {
  const std::string hint = suggestion(name, known);
  return fmt::format("{}. There are: {}", hint.empty() ? "" : fmt::format(" (did you mean {}?)", hint),
                     fmt::join(known, ", "));
}

class DocumentReader {
 public:
  explicit DocumentReader(const YamlDocument& yaml) : yaml_(yaml), values_(yaml) {}

  MatrixDocument read() {
    const YamlNode& root = yaml_.root();
    if (root.kind == YamlNode::Kind::null) {
      yaml_.fail(root.place, "no cells: there is nothing in it. Needed are a device, and file systems below matrix");
    }
    if (root.kind != YamlNode::Kind::map) {
      yaml_.fail(root.place, "it must be a map with the keys " + fmt::format("{}", fmt::join(top_keys(), ", ")));
    }
    for (const YamlNode::Entry& entry : root.entries) {
      if (std::find(top_keys().begin(), top_keys().end(), entry.key) == top_keys().end()) {
        yaml_.fail(entry.place, cut(entry.key) + ": no such key" + hint_for_top(entry.key));
      }
    }
    // Names must be known before they are used.
    if (const auto* entry = find(root, "option_sets")) read_option_sets(*entry);
    if (const auto* entry = find(root, "repeats")) read_repeats(*entry);
    read_defaults(root);
    read_axes(root);
    if (const auto* entry = find(root, "exclude")) document_.exclude = read_entries(*entry);
    if (const auto* entry = find(root, "include")) document_.include = read_entries(*entry);
    for (const auto& [name, set] : document_.option_sets) {
      if (used_sets_.count(name) == 0) {
        document_.warnings.push_back(
            yaml_.at(set.place, fmt::format("option_sets: the option set '{}' is used nowhere", name)));
      }
    }
    return std::move(document_);
  }

 private:
  static const std::vector<std::string>& top_keys() {
    static const std::vector<std::string> keys{"device",      "devices", "mount_point", "defaults", "matrix",
                                               "option_sets", "repeats", "exclude",     "include"};
    return keys;
  }

  static std::string hint_for_top(const std::string& key) {
    const std::string below = suggestion(key, keys_but({}));
    if (below.empty() || !suggestion(key, top_keys()).empty()) return not_known(key, top_keys());
    return fmt::format("{} goes below defaults or matrix. At the top there are: {}",
                       below == key ? " here. It" : fmt::format(" (did you mean {}?). That", below),
                       fmt::join(top_keys(), ", "));
  }

  static const YamlNode::Entry* find(const YamlNode& map, const char* key) {
    for (const YamlNode::Entry& entry : map.entries) {
      if (entry.key == key) return &entry;
    }
    return nullptr;
  }

  const YamlNode& need(const YamlNode::Entry& entry, YamlNode::Kind kind, const char* what) const {
    if (entry.value->kind != kind) {
      yaml_.fail(entry.value->kind == YamlNode::Kind::null ? entry.place : entry.value->place,
                 fmt::format("{}: it must be {}", cut(entry.key), what));
    }
    return *entry.value;
  }

  /// The key of that name among those that are allowed here.
  std::size_t key_of(const YamlNode::Entry& entry, const std::vector<std::string>& allowed) const {
    if (std::find(allowed.begin(), allowed.end(), entry.key) == allowed.end()) {
      const bool elsewhere = find_matrix_key(entry.key) < matrix_keys().size();
      yaml_.fail(entry.place, fmt::format("{}: {}{}", cut(entry.key), elsewhere ? "not here" : "no such key",
                                          not_known(elsewhere ? "" : entry.key, allowed)));
    }
    return find_matrix_key(entry.key);
  }

  static std::vector<std::string> keys_but(const std::set<std::string>& left_out) {
    std::vector<std::string> names;
    for (const MatrixKey& key : matrix_keys()) {
      if (left_out.count(key.name) == 0) names.push_back(key.name);
    }
    return names;
  }

  MatrixValue value(std::size_t key, const YamlNode& node, YamlPlace key_place) {
    MatrixValue value = values_.read(key, node, key_place);
    if (key == option_set_key) {
      if (document_.option_sets.count(value.text) == 0) {
        std::vector<std::string> names;
        for (const auto& [name, set] : document_.option_sets) names.push_back(name);
        yaml_.fail(value.place, fmt::format("options: there is no option set '{}'{}", cut(value.text),
                                            names.empty() ? ". Describe it below option_sets at the top"
                                                          : not_known(value.text, names)));
      }
      used_sets_.insert(value.text);
    }
    return value;
  }

  MatrixEntry entry(const YamlNode& map, const std::vector<std::string>& allowed) {
    MatrixEntry result{map.place, {}};
    for (const YamlNode::Entry& item : map.entries) {
      const std::size_t key = key_of(item, allowed);
      result.settings.push_back({key, item.place, value(key, *item.value, item.place)});
    }
    return result;
  }

  void read_option_sets(const YamlNode::Entry& top) {
    static const std::vector<std::string> allowed = keys_but({"options", "mount_point"});
    for (const YamlNode::Entry& item : need(top, YamlNode::Kind::map, "a map of names to options").entries) {
      const bool clean = item.key.find_first_not_of(name_characters) == std::string::npos;
      if (item.key.empty() || item.key.size() > longest_name || !clean) {
        yaml_.fail(item.place, fmt::format("option_sets: '{}' is no name for an option set. It has 1 to {} letters, "
                                           "digits, and characters of -_.+",
                                           cut(item.key), longest_name));
      }
      const YamlNode& map = need(item, YamlNode::Kind::map, "a map of options; {} where it changes nothing");
      MatrixEntry set = entry(map, allowed);
      set.place = item.place;
      document_.option_sets.emplace(item.key, std::move(set));
    }
  }

  void read_repeats(const YamlNode::Entry& top) {
    const YamlNode& node = need(top, YamlNode::Kind::scalar, "a whole number");
    document_.repeats_place = node.place;
    try {
      document_.repeats = parse_count(node.text, "repeats", 1, static_cast<int>(most_matrix_cells));
    } catch (const UsageError& error) {
      yaml_.fail(node.place, about_key("repeats", printable(error.what())));
    }
  }

  void read_defaults(const YamlNode& root) {
    static const std::vector<std::string> allowed = keys_but({"options"});
    document_.defaults.place = root.place;
    if (const auto* top = find(root, "defaults")) {
      document_.defaults = entry(need(*top, YamlNode::Kind::map, "a map of options"), allowed);
    }
    for (const char* name : {"device", "mount_point"}) {
      const auto* top = find(root, name);
      if (top == nullptr) continue;
      const std::size_t key = find_matrix_key(name);
      for (const MatrixSetting& setting : document_.defaults.settings) {
        if (setting.key == key) {
          yaml_.fail(top->place, fmt::format("{}: it is in defaults too, in line {}. Remove one of them", name,
                                             setting.place.line));
        }
      }
      document_.defaults.settings.push_back({key, top->place, value(key, *top->value, top->place)});
    }
  }

  void read_axes(const YamlNode& root) {
    static const std::vector<std::string> allowed = keys_but({"mount_point"});
    if (const auto* top = find(root, "devices")) {
      if (const auto* one = find(root, "device")) {
        yaml_.fail(top->place,
                   fmt::format("devices: there is device too, in line {}. Remove one of them", one->place.line));
      }
      read_axis(find_matrix_key("device"), *top);
    }
    const auto* matrix = find(root, "matrix");
    if (matrix == nullptr) return;
    const YamlNode& map = need(*matrix, YamlNode::Kind::map, "a map of keys to lists of values");
    if (map.entries.empty())
      yaml_.fail(map.place, "matrix: it is empty. Name an axis, such as filesystem: [ext4, xfs]");
    for (const YamlNode::Entry& item : map.entries) {
      const std::size_t key = key_of(item, allowed);
      const bool there = std::any_of(document_.axes.begin(), document_.axes.end(),
                                     [&](const MatrixAxis& axis) { return axis.key == key; });
      if (there) yaml_.fail(item.place, "device: there is devices at the top too. Remove one of them");
      read_axis(key, item);
    }
  }

  void read_axis(std::size_t key, const YamlNode::Entry& item) {
    MatrixAxis axis{key, item.place, {}};
    const bool list = item.value->kind == YamlNode::Kind::sequence;
    const std::vector<const YamlNode*> nodes = list ? item.value->items : std::vector{item.value};
    if (nodes.empty()) yaml_.fail(item.value->place, fmt::format("{}: the axis has no values", item.key));
    if (nodes.size() > most_matrix_cells) too_many(item, nodes.size());
    std::map<int, YamlPlace> known;
    for (const YamlNode* node : nodes) {
      MatrixValue one = value(key, *node, item.place);
      const auto [first, is_new] = known.emplace(one.number, one.place);
      if (is_new) {
        axis.values.push_back(std::move(one));
      } else {
        document_.warnings.push_back(
            yaml_.at(one.place, fmt::format("{}: '{}' is the same as what stands at {}:{}; it is taken once", item.key,
                                            cut(one.text), first->second.line, first->second.column)));
      }
    }
    document_.axes.push_back(std::move(axis));
  }

  std::vector<MatrixEntry> read_entries(const YamlNode::Entry& top) {
    static const std::vector<std::string> allowed = keys_but({"mount_point"});
    const YamlNode& list = need(top, YamlNode::Kind::sequence, "a list of maps, such as - {filesystem: xfs}");
    if (list.items.size() > most_matrix_cells) too_many(top, list.items.size());
    std::vector<MatrixEntry> entries;
    for (const YamlNode* node : list.items) {
      if (node->kind != YamlNode::Kind::map || node->entries.empty()) {
        yaml_.fail(
            node->kind == YamlNode::Kind::null ? top.place : node->place,
            fmt::format("{}: each entry must be a map with at least one key, such as {{filesystem: xfs}}", top.key));
      }
      entries.push_back(entry(*node, allowed));
    }
    return entries;
  }

  [[noreturn]] void too_many(const YamlNode::Entry& entry, std::size_t count) const {
    yaml_.fail(entry.place,
               fmt::format("{}: {} are too many; at most {} are allowed", entry.key, count, most_matrix_cells));
  }

  const YamlDocument& yaml_;
  MatrixDocument document_;
  MatrixValueReader values_;
  std::set<std::string> used_sets_;
};

}  // namespace

const std::vector<MatrixKey>& matrix_keys() {
  static const std::vector<MatrixKey> all = [] {
    std::vector<MatrixKey> keys{{"options", nullptr}};
    for (const RunOption& option : run_options()) {
      if (!option.key.empty()) keys.push_back({option.key, &option});
    }
    return keys;
  }();
  return all;
}

std::size_t find_matrix_key(const std::string& name) {
  const auto& keys = matrix_keys();
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const MatrixKey& key) { return key.name == name; });
  return static_cast<std::size_t>(found - keys.begin());
}

MatrixDocument read_matrix_document(const YamlDocument& yaml) { return DocumentReader(yaml).read(); }

std::string with_matrix_keys(const std::string& message) {
  const auto in_word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-'; };
  std::string result;
  for (std::size_t i = 0; i < message.size();) {
    std::size_t end = i;
    while (end < message.size() && in_word(message[end])) ++end;
    if (end == i) {
      result += message[i++];
      continue;
    }
    std::string word = message.substr(i, end - i);
    for (const MatrixKey& key : matrix_keys()) {
      if (key.option != nullptr && key.option->name == word) {
        word = key.name;
        break;
      }
    }
    result += word;
    i = end;
  }
  return result;
}

}  // namespace mongo
