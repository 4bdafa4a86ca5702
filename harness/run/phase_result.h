#pragma once

#include <string>
#include <vector>

#include "harness/core/record.h"
#include "harness/measure/space.h"
#include "harness/workers/workers.h"

namespace mongo {

/// Makes a phase's record from what its repetitions did (pure). The phase is ok, and has a time, only if nothing failed
/// and every planned file was worked on. `after` is the file system's space when the phase had ended: it tells inodes
/// from blocks. `earlier_trouble` names an earlier phase that did not succeed, or is empty.
PhaseRecord judge_phase(const phases::Phase& phase, std::uint64_t planned,
                        const std::vector<RepetitionResult>& repetitions, const Space& after,
                        const std::string& earlier_trouble);

/// Marks what makes the phase's time less than it seems (flags), or none at all: the machine slept. Works out CPU
/// percentages. `resolution_ns` is the clock's, if known.
void judge_conditions(PhaseRecord& record, std::optional<std::uint64_t> resolution_ns);

/// Adds what the comparison of contents found: a difference fails the phase.
void judge_verification(PhaseRecord& record, const std::vector<RepetitionResult>& repetitions);

/// The phase has no time, for this reason.
void end_without_time(PhaseRecord& record, Status status, const std::string& reason);

/// The worst status of the phases, and the first reason of each pass that has one, for the run.
void judge_run(RunRecord& record);

}  // namespace mongo
