#pragma once

#include <optional>
#include <string>

#include "harness/device/guard.h"
#include "harness/device/kernel_view.h"

// What is written on a device or image, and whether it may be lost. Private to harness/device.

namespace mongo {

/// The refusal for what is written at the path, without the name of the device; nothing when it is blank, or what this
/// tool made, or all may be destroyed. Throws RunError("probe", ...) when it cannot be told.
std::optional<Refusal> refuse_contents(const KernelView& kernel, const std::string& path, bool destroy);

}  // namespace mongo
