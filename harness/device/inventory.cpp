#include "harness/device/inventory.h"

#include <fmt/format.h>

#include "harness/core/errors.h"
#include "harness/device/signatures.h"
#include "harness/device/system_files.h"

namespace mongo {
namespace {

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
    item.why_not = refused.what();
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
    // Size in sectors of 512 bytes; 0 for loop devices without a file and drives without a medium.
    if (devio::trimmed(devio::read_file(folder + "/" + name + "/size").text) == "0") continue;
    for (char& c : name) {
      if (c == '!') c = '/';
    }
    items.push_back(look_at("/dev/" + name, options));
  }
  return items;
}

}  // namespace mongo
