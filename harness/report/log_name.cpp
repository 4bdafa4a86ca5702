#include <fmt/format.h>

#include <string_view>

#include "harness/core/errors.h"
#include "harness/report/append.h"
#include "harness/report/catalogue.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

constexpr std::size_t longest_log_name = 200;

bool has_control_character(const std::string& name) {
  for (std::size_t at = 0; at < name.size(); ++at) {
    const auto byte = static_cast<unsigned char>(name[at]);
    if (byte < 0x20 || byte == 0x7f) return true;
    // U+0080 to U+009F
    if (byte == 0xc2 && at + 1 < name.size() && static_cast<unsigned char>(name[at + 1]) < 0xa0) return true;
  }
  return false;
}

}  // namespace

void check_log_name(const std::string& name) {
  const auto refuse = [&](const std::string& reason) {
    throw UsageError(fmt::format("the log name \"{}\" {}", one_line(name), reason));
  };
  if (name.empty()) throw UsageError("the log name is empty");
  if (name.size() > longest_log_name) {
    refuse(fmt::format("is {} bytes long; at most {} are allowed", name.size(), longest_log_name));
  }
  if (!is_valid_utf8(name)) refuse("is not valid UTF-8");
  if (has_control_character(name)) refuse("holds a control character");
  if (name.find('/') != std::string::npos) {
    refuse("holds a '/'; it is the name of a file in the results folder, which is chosen apart from it");
  }
  if (name.front() == '-') refuse("begins with '-' and would be taken for an option");
  if (name.front() == '.') refuse("begins with '.' and would be hidden");
  for (const Format* format : formats()) {
    const std::string_view suffix = format->suffix;
    if (!suffix.empty() && name.ends_with(suffix)) {
      refuse(fmt::format("ends in {}, which is for the files that are made beside a log", suffix));
    }
  }
}

}  // namespace mongo
