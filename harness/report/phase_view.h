#pragma once

#include <string>
#include <vector>

#include "harness/core/record.h"

// What the text files and the comparison have in common: which phases have a place, in which order, and what is said of
// a phase that has no figure.

namespace mongo {

/// A phase's place in a table.
struct PhaseSlot {
  int number;                // as in "Phase 1"; the seven phases of the classic tables are 1 to 7, others follow
  std::string name;          // "symlink"
  std::string label;         // "Slinks"
  bool writes_files;         // has fragments and used space
  const PhaseRecord* phase;  // null: not run
};

/// The seven phases of the classic tables in their order, whether or not they were run, then those of the pass that are
/// not among them, in the order of the record.
std::vector<PhaseSlot> phase_slots(const PassRecord& pass);
/// The same for a run of which there is no pass.
std::vector<PhaseSlot> phase_slots();

/// The phase's time in seconds, "-" unless its status is ok.
std::string phase_time(const PhaseSlot& slot);

/// Fragments / files above the threshold; "-" where not known.
std::string phase_fragmentation(const PhaseSlot& slot);

/// Used space in KiB after the phase; "-" where not known.
std::string phase_used(const PhaseSlot& slot);

/// Why a phase that was run has no time: "create incomplete: ENOSPC: no inodes left, 53 of 200 files"; empty if it has
/// one.
std::string phase_note(const PhaseRecord& phase);

/// Why the ratio of fragments is not known: "fragments after create: unknown, this file system does not tell its
/// extents"; empty if it is known or the phase has none.
std::string fragmentation_note(const PhaseRecord& phase);

/// How a run ended, "ok" or "failed: mkfs: ...".
std::string status_text(Status status, const std::string& reason);

}  // namespace mongo
