#pragma once

#include "harness/guest/init.h"
#include "harness/run/run_context.h"
#include "harness/run/target.h"

namespace mongo {

/// Boots a guest that mounts the formatted device, runs the phases of one pass and unmounts. Progress goes to the run's
/// observer; what the guest found out is added to the pass. Throws RunError("guest", ...) when the guest did not come
/// to its end, with what it had found out until then in the pass; Interrupted.
void run_pass_in_guest(RunContext& context, Target& target, std::size_t pass_index, PassRecord& pass);

/// The guest's side of it: what guest_main calls.
int work_in_guest(const GuestJob& job);

}  // namespace mongo
