#include "harness/matrix/planned_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/filesystem.hpp>

#include "harness/core/byte_size.h"
#include "harness/core/errors.h"
#include "harness/device/guard.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

namespace fs = boost::filesystem;

std::string absolute(const std::string& path, const std::string& folder) {
  return path.starts_with('/') ? path : folder + "/" + path;
}

PlannedDevice look_at(const DeviceSpec& device, const std::string& folder) {
  const BlockDevice found = Guard(GuardOptions()).resolve(absolute(device.path, folder));
  return {device.given, found.major_minor(), found.size_bytes, found.serial, found.backing};
}

std::string description(const PlannedDevice& device) {
  std::string text = fmt::format("{} of {}", device.major_minor, format_rounded(ByteSize{device.size_bytes}));
  if (!device.serial.empty()) text += ", serial " + one_line(device.serial);
  if (!device.backing.empty()) text += ", on " + one_line(device.backing);
  return text;
}

const PlannedDevice* find(const std::vector<PlannedDevice>& planned, const std::string& given) {
  const auto found =
      std::find_if(planned.begin(), planned.end(), [&](const PlannedDevice& device) { return device.given == given; });
  return found == planned.end() ? nullptr : &*found;
}

}  // namespace

std::vector<PlannedDevice> look_at_devices(const std::vector<ListedCell>& cells, const std::string& folder) {
  std::vector<PlannedDevice> devices;
  std::vector<std::string> seen;
  for (const ListedCell& planned : cells) {
    const DeviceSpec& device = planned.cell.device;
    if (device.kind != DeviceSpec::Kind::block) continue;
    if (std::find(seen.begin(), seen.end(), device.given) != seen.end()) continue;
    seen.push_back(device.given);
    try {
      devices.push_back(look_at(device, folder));
    } catch (const DeviceRefused&) {
      devices.push_back({device.given, "", 0, "", ""});
    }
  }
  return devices;
}

std::vector<std::string> same_under_two_names(const std::vector<PlannedDevice>& devices) {
  std::vector<std::string> warnings;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (devices[i].major_minor.empty() || devices[i].major_minor != devices[j].major_minor) continue;
      warnings.push_back(fmt::format("{} and {} are the same device: each of its cells is run under both names",
                                     one_line(devices[j].given), one_line(devices[i].given)));
    }
  }
  return warnings;
}

void pin_devices(std::vector<ListedCell>& cells, const std::vector<PlannedDevice>& devices) {
  for (ListedCell& planned : cells) {
    const PlannedDevice* device = find(devices, planned.cell.device.given);
    if (device != nullptr) planned.cell.device_number = device->major_minor;
  }
}

bool same_disk(const PlannedDevice& before, const PlannedDevice& now) {
  return before.size_bytes == now.size_bytes && before.serial == now.serial && before.backing == now.backing &&
         (!before.serial.empty() || before.major_minor == now.major_minor);
}

std::optional<std::string> why_another_device(const std::vector<PlannedDevice>& planned, const DeviceSpec& device,
                                              const std::string& folder) {
  const PlannedDevice* before = find(planned, device.given);
  if (before == nullptr) return std::nullopt;
  if (before->major_minor.empty()) {
    return fmt::format("{} was no block device when the run began; with --resume it is looked at again",
                       one_line(device.given));
  }
  try {
    const PlannedDevice now = look_at(device, folder);
    if (now == *before) return std::nullopt;
    return fmt::format(
        "{} leads to another device than when the run began: {}, and not {}. Name it by something that "
        "does not move, as below /dev/disk/by-id",
        one_line(device.given), description(now), description(*before));
  } catch (const DeviceRefused& refused) {
    return fmt::format("the device is not there any more: {}", refused.what());
  }
}

std::string disk_below(const DeviceSpec& device, const std::string& folder) {
  if (device.kind == DeviceSpec::Kind::none) return "";
  if (device.kind == DeviceSpec::Kind::ram || device.kind == DeviceSpec::Kind::loop_new) return device.given;
  boost::system::error_code error;
  const fs::path path = absolute(device.path, folder);
  if (device.kind == DeviceSpec::Kind::loop_file) return fs::weakly_canonical(path, error).string();
  try {
    // /sys/devices/.../block/sdb/sdb1, if it is a partition: it shares its disk. Source: Documentation/ABI/testing.
    const std::string number = Guard(GuardOptions()).resolve(path.string()).major_minor();
    const fs::path node = fs::canonical("/sys/dev/block/" + number, error);
    return fs::exists(node / "partition", error) ? node.parent_path().string() : node.string();
  } catch (const DeviceRefused&) {
    return path.string();
  }
}

}  // namespace mongo
