#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/matrix/cell_list.h"
#include "harness/matrix/state.h"

namespace mongo {

/// The block devices of these cells as they are now, each once, also those that are not there. folder: in which
/// relative names are meant.
std::vector<PlannedDevice> look_at_devices(const std::vector<ListedCell>& cells, const std::string& folder);

/// Whether both are the same disk. Numbers may change when a machine starts again, which a serial number does not.
bool same_disk(const PlannedDevice& before, const PlannedDevice& now);

/// Why the cell may not be run: its device's name leads elsewhere than it did, led nowhere then, or does now. Nothing
/// for devices that are not among those planned, as the tool's own.
std::optional<std::string> why_another_device(const std::vector<PlannedDevice>& planned, const DeviceSpec& device,
                                              const std::string& folder);

/// Names that lead to one device, as a warning each.
std::vector<std::string> same_under_two_names(const std::vector<PlannedDevice>& devices);

/// Tells each cell the number that its device must turn out to have.
void pin_devices(std::vector<ListedCell>& cells, const std::vector<PlannedDevice>& devices);

/// What cells share if they must not run at the same time: the whole disk below a block device, or the place of the
/// tool's own devices. Empty for an existing directory.
std::string disk_below(const DeviceSpec& device, const std::string& folder);

}  // namespace mongo
