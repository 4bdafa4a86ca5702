#pragma once

#include <sys/types.h>

#include "harness/workers/shared_pages.h"
#include "harness/workers/workers.h"

namespace mongo::workers {

/// The life of one process, from the fork to its end. done: a descriptor to tell that its work is done, after which it
/// waits to be released; -1: it ends at once.
[[noreturn]] void be_worker(const RepetitionRequest& request, int process, pid_t parent, Barrier& barrier, Slot& slot,
                            phases::Latencies* latencies, int done);

}  // namespace mongo::workers
