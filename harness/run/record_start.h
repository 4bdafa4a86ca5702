#pragma once

#include "harness/core/record.h"
#include "harness/plan/cell.h"
#include "harness/run/observer.h"

namespace mongo {

/// A record with all that is known before anything is done: the cell and the host.
RunRecord start_record(const Cell& cell);

/// Adds what holds for all figures of this run, and what may disturb it; the observer is told of the latter.
void add_flags_and_warnings(const Cell& cell, RunRecord& record, RunObserver& observer);

}  // namespace mongo
