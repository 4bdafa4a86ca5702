#include "tests/support/matrix_text.h"

#include <yaml-cpp/yaml.h>

#include "harness/plan/words.h"

namespace mongo {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string value_text(std::size_t key, const MatrixValue& value) {
  const RunOption* option = matrix_keys()[key].option;
  return option != nullptr && option->form == ValueForm::flag ? value.text : quoted(value.text);
}

std::string entry_text(const MatrixEntry& entry) {
  std::string text;
  for (const MatrixSetting& setting : entry.settings) {
    text +=
        (text.empty() ? "" : ", ") + matrix_keys()[setting.key].name + ": " + value_text(setting.key, setting.value);
  }
  return "{" + text + "}";
}

std::string list_text(const char* name, const std::vector<MatrixEntry>& entries) {
  std::string text;
  for (const MatrixEntry& entry : entries) text += "- " + entry_text(entry) + "\n";
  return text.empty() ? "" : std::string(name) + ":\n" + text;
}

void collect(const YAML::Node& node, const std::string& place, std::multiset<std::string>& out) {
  if (node.IsMap()) {
    if (node.size() == 0) out.insert(place + "/");
    for (const auto& entry : node) {
      std::string below = (place.empty() ? "" : place + "/") + entry.first.as<std::string>();
      if (below == "defaults/device" || below == "defaults/mount_point") below = below.substr(9);
      if (below == "devices") below = "matrix/device";
      collect(entry.second, below, out);
    }
  } else if (node.IsSequence()) {
    if (node.size() == 0 && place != "include" && place != "exclude") out.insert(place + "/");
    const bool entries = place == "include" || place == "exclude";
    for (std::size_t i = 0; i < node.size(); ++i) {
      collect(node[i], entries ? place + "/" + std::to_string(i) : place, out);
    }
  } else {
    for (const std::string& part : split_commas(node.as<std::string>())) out.insert(place + "=" + part);
  }
}

}  // namespace

std::string write_matrix(const MatrixDocument& document) {
  std::string text = "repeats: " + std::to_string(document.repeats) + "\n";
  text += "defaults: " + entry_text(document.defaults) + "\n";
  if (!document.axes.empty()) text += "matrix:\n";
  for (const MatrixAxis& axis : document.axes) {
    std::string values;
    for (const MatrixValue& value : axis.values) values += (values.empty() ? "" : ", ") + value_text(axis.key, value);
    text += "  " + matrix_keys()[axis.key].name + ": [" + values + "]\n";
  }
  if (!document.option_sets.empty()) text += "option_sets:\n";
  for (const auto& [name, set] : document.option_sets) text += "  " + quoted(name) + ": " + entry_text(set) + "\n";
  return text + list_text("exclude", document.exclude) + list_text("include", document.include);
}

std::multiset<std::string> said_in_matrix(const std::string& text) {
  std::multiset<std::string> out;
  collect(YAML::Load(text), "", out);
  return out;
}

}  // namespace mongo
