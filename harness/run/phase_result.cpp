#include "harness/run/phase_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "harness/core/errors.h"

namespace mongo {
namespace {

/// Errors that say that the file system is full or has met a limit of its own: expected of a small device.
bool is_limit(int code) {
  return code == ENOSPC || code == EDQUOT || code == EMLINK || code == ENAMETOOLONG || code == EFBIG;
}

std::string explain(const ErrorRecord& error, const Space& after) {
  switch (error.code) {
    case ENOSPC:
      return after.inodes != 0 && after.free_inodes == 0 ? "no inodes left" : "no space left";
    case EMLINK:
      return "no more links or subdirectories";
    default:
      return strerror(error.code);
  }
}

/// The error that says most: one that is no limit before one that is, then the most frequent.
const ErrorRecord& leading_error(const std::vector<ErrorRecord>& errors) {
  return *std::max_element(errors.begin(), errors.end(), [](const ErrorRecord& a, const ErrorRecord& b) {
    const bool a_limit = is_limit(a.code), b_limit = is_limit(b.code);
    return a_limit != b_limit ? a_limit : a.count < b.count;
  });
}

}  // namespace

PhaseRecord judge_phase(const phases::Phase& phase, std::uint64_t planned,
                        const std::vector<RepetitionResult>& repetitions, const Space& after,
                        const std::string& earlier_trouble) {
  PhaseRecord record;
  record.name = phase.name;
  record.label = phase.label;
  record.planned_operations = planned;
  std::string failure;
  for (const RepetitionResult& repetition : repetitions) {
    record.operations += repetition.files;
    record.bytes += repetition.bytes;
    record.elapsed_seconds += repetition.seconds;
    record.cpu_user_seconds += repetition.cpu_user_seconds;
    record.cpu_system_seconds += repetition.cpu_system_seconds;
    merge_errors(record.errors, repetition.errors);
    if (failure.empty()) failure = repetition.failure;
  }
  const std::string done = fmt::format("{} of {} files", record.operations, planned);
  if (!failure.empty()) {
    record.status = Status::failed;
    record.reason = fmt::format("{}, {}", failure, done);
  } else if (!record.errors.empty()) {
    const ErrorRecord& error = leading_error(record.errors);
    record.status = is_limit(error.code) ? Status::incomplete : Status::failed;
    record.reason = fmt::format("{}: {}, {}", error.name, explain(error, after), done);
    if (record.status == Status::failed) {
      record.reason += fmt::format("; first at {} ({})", error.first_path, error.operation);
    }
  } else if (record.operations != planned) {
    record.status = earlier_trouble.empty() || record.operations > planned ? Status::failed : Status::incomplete;
    record.reason = earlier_trouble.empty() ? fmt::format("found {}", done)
                                            : fmt::format("{}: {} did not succeed before it", done, earlier_trouble);
  } else {
    double seconds = 0;
    for (const RepetitionResult& repetition : repetitions) {
      record.repetition_seconds.push_back(repetition.seconds);
      seconds += repetition.seconds;
    }
    record.seconds = seconds;
  }
  return record;
}

void judge_run(RunRecord& record) {
  std::string reasons;
  for (const PassRecord& pass : record.passes) {
    int others = 0;
    for (const PhaseRecord& phase : pass.phases) {
      if (phase.status == Status::ok) continue;
      if (phase.status == Status::incomplete && record.status == Status::ok) record.status = Status::incomplete;
      if (phase.status == Status::failed && (record.status == Status::ok || record.status == Status::incomplete)) {
        record.status = Status::failed;
      }
      // What comes after the first trouble of a pass mostly follows from it; each phase has its own reason anyway.
      if (others++ > 0) continue;
      reasons += fmt::format("{}{} at {} bytes: {}", reasons.empty() ? "" : "; ", phase.name,
                             pass.median_file_size_bytes, phase.reason);
    }
    if (others > 1) reasons += fmt::format(" (and {} more)", others - 1);
  }
  if (record.reason.empty()) {
    record.reason = reasons;
  } else if (!reasons.empty()) {
    record.reason += "; " + reasons;
  }
}

}  // namespace mongo
