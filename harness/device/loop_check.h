#pragma once

#include "harness/core/device_spec.h"
#include "harness/device/guard.h"
#include "harness/device/loop.h"

namespace mongo {

/// What a run would say to loop:PATH, loop:SIZE or ram:SIZE, without attaching or changing anything: the image is
/// usable, used by nobody, and blank or made by this tool (or options.destroy); the size fits and is made of whole
/// sectors; there are loop devices.
/// Throws what the run would throw: DeviceRefused, RunError("attach", ...). A block device is Guard's business.
void check_loop_spec(const DeviceSpec& spec, const GuardOptions& options, const LoopOptions& loop = {});

}  // namespace mongo
