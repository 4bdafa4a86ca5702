#include "harness/device/inventory.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "harness/core/errors.h"
#include "harness/device/signatures.h"
#include "harness/device/system_files.h"

namespace mongo {
namespace {

/// In sectors of 512 bytes, whatever the device's are.
std::optional<std::uint64_t> read_size(const std::string& file) {
  const std::string text = devio::trimmed(devio::read_file(file).text);
  std::uint64_t sectors = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), sectors);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (sectors > std::numeric_limits<std::uint64_t>::max() / 512) return std::nullopt;
  return sectors * 512;
}

InventoryItem look_at(const std::string& node, const GuardOptions& options) {
  InventoryItem item;
  item.device.given = item.device.resolved = node;
  const Guard guard(options);
  try {
    item.device = guard.resolve(node);
    try {
      item.contents = read_signatures(node);
    } catch (const RunError& error) {
      item.contents_unknown = error.what();
    }
    if (const auto refusal = guard.check(item.device)) {
      item.why_not = refusal->what;
      item.needs_destroy = refusal->reason == Refusal::Reason::signature;
    } else {
      item.accepted = true;
    }
  } catch (const DeviceRefused& refused) {
    item.why_not = item.contents_unknown = refused.what();
  }
  return item;
}

}  // namespace

std::vector<InventoryItem> list_devices(const GuardOptions& options) {
  const std::string folder = options.root + (options.root.ends_with('/') ? "" : "/") + "sys/class/block";
  const devio::Names names = devio::list_names(folder);
  if (names.error != 0) {
    throw RunError("devices", fmt::format("{} cannot be read: {}. Is /sys mounted?", folder, errno_text(names.error)));
  }
  std::vector<InventoryItem> items;
  for (std::string name : names.names) {
    const std::optional<std::uint64_t> size = read_size(folder + "/" + name + "/size");
    const std::string number = devio::trimmed(devio::read_file(folder + "/" + name + "/dev").text);
    if (size == 0U) continue;  // a loop device without a file, a drive without a medium
    for (char& c : name) {
      if (c == '!') c = '/';
    }
    items.push_back(look_at("/dev/" + name, options));
    items.back().size_bytes = size;
    items.back().major_minor = number;
  }
  return items;
}

}  // namespace mongo
