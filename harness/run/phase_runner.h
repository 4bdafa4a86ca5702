#pragma once

#include <cstdint>
#include <string>

#include "harness/measure/space.h"
#include "harness/run/idle_machine.h"
#include "harness/run/mounted_filesystem.h"
#include "harness/run/run_context.h"
#include "harness/workers/workers.h"

namespace mongo {

/// Runs the phases of one pass on a mounted file system and measures around them.
class PhaseRunner {
 public:
  PhaseRunner(RunContext& context, MountedFilesystem& filesystem, const IdleMachine& idle)
      : context_(context), filesystem_(filesystem), idle_(idle) {}

  /// All phases of the cell. Failures of phases are in their records. Throws RunError, Interrupted; what has been found
  /// out until then is in the pass.
  void run(const phases::TreeParameters& tree, PassRecord& pass);

 private:
  struct Measured;
  /// Fills result also when it throws.
  void run_phase(const phases::Phase& phase, std::uint64_t planned, const std::string& trouble, PhaseRecord& result);
  void run_repetitions(const phases::Phase& phase, Measured& measured);
  void run_one(RepetitionRequest& request, Measured& measured);
  void sync(Measured& measured);
  void fill(const phases::Phase& phase, const Measured& measured, PhaseRecord& result) const;
  void verify(const phases::Phase& phase, PhaseRecord& result);
  void survey(PhaseRecord& result, PassRecord& pass);
  RepetitionRequest request_for(const phases::Phase& phase) const;

  RunContext& context_;
  MountedFilesystem& filesystem_;
  IdleMachine idle_;
  phases::TreeParameters tree_;
  Space empty_;
};

}  // namespace mongo
