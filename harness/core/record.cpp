#include "harness/core/record.h"

#include <array>
#include <utility>

namespace mongo {
namespace {

constexpr std::array<std::pair<Status, const char*>, 6> status_names = {{
    {Status::ok, "ok"},
    {Status::incomplete, "incomplete"},
    {Status::failed, "failed"},
    {Status::unsupported, "unsupported"},
    {Status::interrupted, "interrupted"},
    {Status::skipped, "skipped"},
}};

}  // namespace

const char* status_name(Status status) {
  for (const auto& [value, name] : status_names) {
    if (value == status) return name;
  }
  return "failed";  // a value outside the enumeration: nothing better than a failure can be claimed of it
}

std::optional<Status> parse_status(const std::string& name) {
  for (const auto& [value, text] : status_names) {
    if (name == text) return value;
  }
  return std::nullopt;
}

}  // namespace mongo
