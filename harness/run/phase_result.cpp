#include "harness/run/phase_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>

#include "harness/core/errors.h"
#include "harness/measure/clock.h"
#include "harness/measure/latency.h"
#include "phases/catalogue.h"

namespace mongo {
namespace {

/// Below this share of its time in which all processes worked, a phase is one of fewer processes for the rest.
constexpr double least_overlap = 0.9;

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

/// What follows from an earlier failure: a tree that create could not make is missing later, and a directory from which
/// something could not be removed is not empty.
bool is_consequence(const ErrorRecord& error, bool trouble) {
  return trouble && (error.code == ENOENT || error.code == ENOTEMPTY);
}

/// The error that says most: a failure before a limit before a consequence, then the most frequent.
const ErrorRecord& leading_error(const std::vector<ErrorRecord>& errors, bool trouble) {
  const auto weight = [&](const ErrorRecord& error) {
    return is_consequence(error, trouble) ? 0 : is_limit(error.code) ? 1 : 2;
  };
  return *std::max_element(errors.begin(), errors.end(), [&](const ErrorRecord& a, const ErrorRecord& b) {
    return weight(a) != weight(b) ? weight(a) < weight(b) : a.count < b.count;
  });
}

/// After a write that failed all names may be there, and files empty or cut.
bool files_may_be_cut(const std::string& earlier_trouble) {
  const phases::Phase* earlier = phases::find(earlier_trouble);
  return earlier != nullptr && earlier->writes_files;
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
  const auto latencies = std::make_unique<phases::Latencies>();
  for (const RepetitionResult& repetition : repetitions) {
    record.operations += repetition.files;
    record.bytes += repetition.bytes;
    record.elapsed_seconds += repetition.seconds;
    record.cpu_user_seconds += repetition.cpu_user_seconds;
    record.cpu_system_seconds += repetition.cpu_system_seconds;
    record.start_skew_seconds = std::max(record.start_skew_seconds, repetition.start_skew_seconds);
    record.overlap = std::min(record.overlap.value_or(1), repetition.overlap);
    if (repetition.latencies) phases::merge(*latencies, *repetition.latencies);
    merge_errors(record.errors, repetition.errors);
    if (failure.empty()) failure = repetition.failure;
  }
  if (record.elapsed_seconds == 0) {  // not begun: what was not measured is not 0
    record.cpu_user_seconds = record.cpu_system_seconds = record.start_skew_seconds =
        std::numeric_limits<double>::quiet_NaN();
  }
  record.latencies = summarise(*latencies);
  if (record.overlap && *record.overlap < least_overlap) record.flags.emplace_back("low-overlap");
  const std::string done = fmt::format("{} of {} files", record.operations, planned);
  if (!failure.empty()) {
    record.status = Status::failed;
    record.reason = fmt::format("{}, {}", failure, done);
  } else if (!record.errors.empty()) {
    const bool trouble =
        !earlier_trouble.empty() ||
        std::any_of(record.errors.begin(), record.errors.end(), [](const auto& e) { return !is_consequence(e, true); });
    const ErrorRecord& error = leading_error(record.errors, trouble);
    if (is_consequence(error, trouble)) {
      record.status = Status::incomplete;
      record.reason = fmt::format("{}: {} did not succeed before it", done, earlier_trouble);
    } else {
      record.status = is_limit(error.code) ? Status::incomplete : Status::failed;
      record.reason = fmt::format("{}: {}, {}", error.name, explain(error, after), done);
      if (record.status == Status::failed && !error.first_path.empty()) {
        record.reason += fmt::format("; first at {} ({})", error.first_path, error.operation);
      }
    }
  } else if (record.operations != planned || files_may_be_cut(earlier_trouble)) {
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

void end_without_time(PhaseRecord& record, Status status, const std::string& reason) {
  record.status = status;
  record.reason = reason;
  record.seconds.reset();
  record.repetition_seconds.clear();
}

void judge_conditions(PhaseRecord& record, std::optional<std::uint64_t> resolution_ns) {
  if (record.suspended_seconds && record.status == Status::ok) {
    end_without_time(record, Status::failed,
                     fmt::format("the machine was suspended for {:.3f} s during the phase", *record.suspended_seconds));
  }
  if (record.cache.state != record.cache.requested) record.flags.emplace_back("cache-fallback");
  if (record.cache.resident_bytes.value_or(0) > 0) record.flags.emplace_back("cache-not-empty");
  const bool unsure = record.cache.reason.find("not verified") != std::string::npos;
  if (unsure) record.flags.emplace_back("cache-not-verified");
  if (!record.seconds) return;
  const bool short_one =
      resolution_ns && std::any_of(record.repetition_seconds.begin(), record.repetition_seconds.end(),
                                   [&](double s) { return too_short(s, *resolution_ns); });
  if (short_one) record.flags.emplace_back("too-short");
  if (*record.seconds <= 0) return;
  record.cpu_percent = 100 * (record.cpu_user_seconds + record.cpu_system_seconds) / *record.seconds;
  if (record.machine_cpu_seconds) record.machine_cpu_percent = 100 * *record.machine_cpu_seconds / *record.seconds;
}

void judge_verification(PhaseRecord& record, const std::vector<RepetitionResult>& repetitions) {
  std::uint64_t files = 0;
  std::string failure;
  std::vector<ErrorRecord> errors;
  for (const RepetitionResult& repetition : repetitions) {
    files += repetition.files;
    merge_errors(errors, repetition.errors);
    if (failure.empty()) failure = repetition.failure;
  }
  record.verified_files = files;
  merge_errors(record.errors, errors);
  if (!errors.empty()) {
    const ErrorRecord& error = leading_error(errors, false);
    end_without_time(record, Status::failed,
                     fmt::format("verification: {}: {}; {} files are right", error.name, error.first_path, files));
  } else if (!failure.empty()) {
    end_without_time(record, Status::failed, "verification: " + failure);
  } else if (files == 0 && record.operations > 0) {
    end_without_time(record, Status::failed, "verification: there was nothing to compare");
  }
}

void judge_run(RunRecord& record) {
  std::string reasons;
  const auto rank = [](Status status) { return status == Status::failed ? 2 : status == Status::ok ? 0 : 1; };
  for (const PassRecord& pass : record.passes) {
    // The first of the worst: what comes after the first trouble mostly follows from it, and each phase has its own
    // reason anyway.
    const PhaseRecord* worst = nullptr;
    int others = -1;
    for (const PhaseRecord& phase : pass.phases) {
      if (phase.status == Status::ok) continue;
      ++others;
      if (worst == nullptr || rank(phase.status) > rank(worst->status)) worst = &phase;
    }
    if (worst == nullptr) continue;
    const bool spoils = record.status == Status::ok || record.status == Status::incomplete;
    if (spoils && worst->status == Status::failed) record.status = Status::failed;
    if (record.status == Status::ok && worst->status == Status::incomplete) record.status = Status::incomplete;
    reasons += fmt::format("{}{} at {} bytes: {}", reasons.empty() ? "" : "; ", worst->name,
                           pass.median_file_size_bytes, worst->reason);
    if (others > 0) reasons += fmt::format(" (and {} more)", others);
  }
  if (record.reason.empty()) {
    record.reason = reasons;
  } else if (!reasons.empty()) {
    record.reason += "; " + reasons;
  }
}

}  // namespace mongo
