#pragma once

#include <string>
#include <vector>

#include "harness/plan/cell.h"

namespace mongo {

/// The command that makes the cell's file system on a device: the driver's, with the user's options.
inline std::vector<std::string> mkfs_argv(const Cell& cell, const std::string& device, const std::string& uuid) {
  return cell.driver->format_argv({device, uuid, cell.mkfs_options});
}

}  // namespace mongo
