#pragma once

#include <cstdint>
#include <string>

#include "harness/core/record.h"

namespace mongo {

/// Is told what a run does while it does it. What it prints must not throw.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  /// Something that people may want to know: a device attached, signatures wiped, a wait.
  virtual void note(const std::string& text) = 0;
  virtual void phase_started(std::uint64_t median_file_size, const std::string& label, std::uint64_t planned_files) = 0;
  /// Files done so far in the phase, over all repetitions, and the seconds since its start.
  virtual void phase_progress(std::uint64_t files_done, double elapsed_seconds) = 0;
  virtual void phase_finished(std::uint64_t median_file_size, const PhaseRecord& phase) = 0;
  /// Right before and after the part of a repetition that is measured, with all processes there and none at work. A
  /// repetition that did not come to its end has no second call.
  virtual void repetition_started() {}
  virtual void repetition_finished() {}
  /// How often phase_progress is wanted, in milliseconds; 0: never.
  virtual int progress_interval() const = 0;
};

}  // namespace mongo
