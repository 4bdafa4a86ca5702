#pragma once

#include "harness/cli/console.h"
#include "harness/run/observer.h"

namespace mongo {

/// Tells a run to a person: a line for each phase on stdout, and on a terminal a progress line.
class TextObserver : public RunObserver {
 public:
  /// lines: print a line for each finished phase. messages: print notes and progress, on stderr.
  TextObserver(Console& console, bool lines, bool messages) : console_(console), lines_(lines), messages_(messages) {}
  void note(const std::string& text) override;
  void phase_started(std::uint64_t median_file_size, const std::string& label, std::uint64_t planned_files) override;
  void phase_progress(std::uint64_t files_done, double elapsed_seconds) override;
  void phase_finished(std::uint64_t median_file_size, const PhaseRecord& phase) override;
  int progress_interval() const override;

 private:
  Console& console_;
  bool lines_, messages_;
  bool headed_ = false;
  std::uint64_t median_file_size_ = 0, planned_files_ = 0;
  std::string label_;
};

}  // namespace mongo
