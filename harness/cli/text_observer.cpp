#include "harness/cli/text_observer.h"

#include <fmt/format.h>

#include "harness/report/text.h"

namespace mongo {
namespace {

std::string time_left(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

void TextObserver::note(const std::string& text) {
  if (messages_) console_.error(text);
}

void TextObserver::phase_started(std::uint64_t median_file_size, const std::string& label,
                                 std::uint64_t planned_files) {
  median_file_size_ = median_file_size;
  label_ = label;
  planned_files_ = planned_files;
  if (messages_) phase_progress(0, 0);
}

void TextObserver::phase_progress(std::uint64_t files_done, double elapsed_seconds) {
  if (!messages_) return;
  std::string line = fmt::format("{} {} bytes: {} of {} files", label_, median_file_size_, files_done, planned_files_);
  if (files_done > 0 && elapsed_seconds > 0) {
    const double rate = static_cast<double>(files_done) / elapsed_seconds;
    line += fmt::format(", {:.0f} files/s", rate);
    if (planned_files_ > files_done) {
      line += fmt::format(", {} left", time_left(static_cast<double>(planned_files_ - files_done) / rate));
    }
  }
  console_.status_line(line);
}

void TextObserver::phase_finished(std::uint64_t median_file_size, const PhaseRecord& phase) {
  if (!lines_) return;
  if (!headed_) {
    headed_ = true;
    console_.out(fmt::format("{:>6}  {:<6}  {:>10}  {:>8}  {:>9}\n", "median", "phase", "seconds", "files", "files/s"));
  }
  std::string line = fmt::format("{:>6}  {:<6}  {:>10}  {:>8}  ", median_file_size, phase.label,
                                 format_seconds(phase.seconds), phase.operations);
  if (phase.seconds && *phase.seconds > 0) {
    line += fmt::format("{:>9.0f}", static_cast<double>(phase.operations) / *phase.seconds);
  } else {
    line += fmt::format("{:>9}", "-");
  }
  if (phase.status != Status::ok) line += fmt::format("  {}: {}", status_name(phase.status), phase.reason);
  console_.out(line + "\n");
}

int TextObserver::progress_interval() const { return messages_ && console_.has_status_line() ? 250 : 0; }

}  // namespace mongo
