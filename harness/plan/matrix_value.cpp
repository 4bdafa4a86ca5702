#include "harness/plan/matrix_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "fsdrivers/catalogue.h"
#include "harness/core/byte_size.h"
#include "harness/core/errors.h"
#include "harness/core/quote.h"
#include "harness/plan/changed_profile.h"
#include "harness/plan/words.h"
#include "phases/catalogue.h"

namespace mongo {
namespace {

constexpr std::size_t longest_value = 1000;  // bytes

/// A run of which everything but one value is known to be good.
RunRequest good_request() {
  RunRequest request;
  request.filesystem = "ext4";
  request.device = "loop:2GiB";
  request.mount_point = "/mnt";
  request.log = "log";
  request.processes = "1";
  return request;
}

const ProfileNumber* profile_number(const RunOption& option) {
  for (const ProfileNumber& number : profile_numbers()) {
    if (option.name.substr(2) == number.name) return &number;
  }
  return nullptr;
}

/// The run's answer to the value alone.
Cell try_value(const RunOption& option, const std::string& text) {
  RunRequest request = good_request();
  set_member(request, option, text);
  // The file system for existing directories goes with no device, and the other way round.
  if (option.key == "filesystem") {
    const auto* driver = fsdrivers::find(text);
    if (driver != nullptr && driver->existing_directory) request.device = "none";
  } else if (option.key == "device" && text == "none") {
    for (const auto& driver : fsdrivers::catalogue()) {
      if (driver.existing_directory) request.filesystem = driver.name;
    }
  }
  return resolve(request);
}

std::string same_device(const DeviceSpec& device) {
  switch (device.kind) {
    case DeviceSpec::Kind::loop_new:
      return fmt::format("loop:{}", device.size.bytes);
    case DeviceSpec::Kind::ram:
      return fmt::format("ram:{}", device.size.bytes);
    default:
      return device.given;
  }
}

/// What is equal for all texts that mean the same run.
std::string same_as(const RunOption& option, const std::string& text, const Cell& cell) {
  if (option.key == "device") return same_device(cell.device);
  if (option.key == "mkfs_options") return fmt::format("{}", fmt::join(cell.mkfs_options, "\n"));
  std::vector<std::string> parts;
  if (option.key == "phases") {
    if (cell.phases.size() == phases::catalogue().size()) return "";
    for (const phases::Phase* phase : cell.phases) parts.emplace_back(phase->name);
  } else if (option.key == "cache") {
    for (const auto& [phase, policy] : cell.cache) {
      if (policy != CachePolicy::warm) parts.push_back(fmt::format("{}={}", phase, cache_policy_name(policy)));
    }
  } else {
    return text;
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

/// What YAML takes for a number or a truth value if it is not in quotes. Source: YAML 1.2.2, 10.3.2 Core schema.
bool is_no_text(const std::string& text) {
  static const std::regex pattern(
      R"([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?)"
      R"(|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)|true|True|TRUE|false|False|FALSE)");
  return text.size() <= 40 && std::regex_match(text, pattern);
}

/// Reads the node as the text that a command line would have.
class TextReader {
 public:
  TextReader(const YamlDocument& yaml, const MatrixKey& key, YamlPlace key_place)
      : yaml_(yaml), key_(key), key_place_(key_place) {}

  std::string read(const YamlNode& node) const {
    if (node.kind == YamlNode::Kind::scalar) return scalar(node);
    if (node.kind == YamlNode::Kind::sequence && takes_list()) return list(node);
    if (node.kind == YamlNode::Kind::null) {
      fail(key_place_, "there is no value. Leave the key out, or write '' for an empty text");
    }
    fail(node.place, node.kind == YamlNode::Kind::map ? "a map is no value"
                                                      : "a list is no value of it; several values are for the axes "
                                                        "below matrix");
  }

 private:
  [[noreturn]] void fail(YamlPlace place, const std::string& reason) const {
    yaml_.fail(place, fmt::format("{}: {}", key_.name, reason));
  }

  ValueForm form() const { return key_.option == nullptr ? ValueForm::text : key_.option->form; }
  bool takes_list() const { return form() == ValueForm::list || form() == ValueForm::sizes; }

  std::string scalar(const YamlNode& node) const {
    const std::string& text = node.text;
    if (text.size() > longest_value) fail(node.place, fmt::format("it is longer than {} bytes", longest_value));
    const auto control = std::find_if(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    if (control != text.end()) {
      fail(node.place, fmt::format("it holds {}, and must be in one line without control characters",
                                   *control == '\n' ? "a line end" : "a control character"));
    }
    if (form() == ValueForm::flag && !(node.plain && (text == "true" || text == "false"))) {
      fail(node.place, fmt::format("'{}' is neither true nor false, without quotes", printable(text)));
    }
    const bool text_wanted = form() == ValueForm::text || form() == ValueForm::list;
    if (text_wanted && node.plain && is_no_text(text)) {
      fail(node.place, fmt::format("{} is no text. Put it into quotes if it is meant: '{}'", text, text));
    }
    return text;
  }

  std::string list(const YamlNode& node) const {
    if (node.items.empty()) fail(node.place, "the list is empty. Leave the key out");
    std::string joined;
    for (const YamlNode* item : node.items) {
      if (item->kind != YamlNode::Kind::scalar) fail(item->place, "a list in it can hold nothing but single values");
      const std::string text = scalar(*item);
      if (text.empty()) fail(item->place, "it is empty");
      if (text.find(',') != std::string::npos) {
        fail(item->place, fmt::format("'{}' holds a comma. Write the values one by one, or all as one text", text));
      }
      joined += (joined.empty() ? "" : ",") + text;
      if (joined.size() > longest_value) fail(item->place, fmt::format("it is longer than {} bytes", longest_value));
    }
    return joined;
  }

  const YamlDocument& yaml_;
  const MatrixKey& key_;
  YamlPlace key_place_;
};

}  // namespace

std::string about_key(const std::string& key, const std::string& message) {
  std::string rest = message;
  if (rest.starts_with(key) && rest.size() > key.size() && (rest[key.size()] == ':' || rest[key.size()] == ' ')) {
    rest = rest.substr(rest.find_first_not_of(": ", key.size()));
  }
  return fmt::format("{}: {}", key, rest);
}

MatrixValue MatrixValueReader::read(std::size_t key, const YamlNode& node, YamlPlace key_place) {
  const MatrixKey& about = matrix_keys()[key];
  MatrixValue value;
  value.place = node.kind == YamlNode::Kind::null ? key_place : node.place;
  value.text = TextReader(yaml_, about, key_place).read(node);
  const auto known = known_.find({key, value.text});
  if (known != known_.end()) {
    value.same = known->second;
  } else {
    try {
      value.same = check(about, value.text);
    } catch (const UsageError& error) {
      yaml_.fail(value.place, about_key(about.name, with_matrix_keys(printable(error.what()))));
    }
    known_.emplace(std::pair(key, value.text), value.same);
  }
  value.number = numbers_.emplace(std::pair(key, value.same), static_cast<int>(numbers_.size())).first->second;
  return value;
}

std::string MatrixValueReader::check(const MatrixKey& key, const std::string& text) {
  if (key.option == nullptr) return text;
  if (const ProfileNumber* number = profile_number(*key.option)) {
    return fmt::format("{}", fmt::join(parse_profile_number(*number, text), ","));
  }
  return same_as(*key.option, text, try_value(*key.option, text));
}

std::string unsaid_matrix_value(const MatrixKey& key) {
  if (key.name == "processes") return "1";
  if (key.name == "profile" || key.name == "latency") return member_text(RunRequest(), *key.option);
  if (key.name == "sync") return "phase";
  if (key.name == "content") return "random";
  if (key.name == "environment") return "auto";
  if (key.name == "sector_size") return "512";
  if (key.option != nullptr && key.option->form == ValueForm::flag) return "false";
  return "";
}

}  // namespace mongo
