#include "harness/run/phase_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "harness/core/errors.h"
#include "harness/measure/activity.h"
#include "harness/measure/clock.h"
#include "harness/measure/free_space.h"
#include "harness/measure/survey.h"
#include "harness/run/cold_caches.h"
#include "harness/run/phase_result.h"
#include "phases/support/tree.h"

namespace mongo {
namespace {

using Clock = std::chrono::steady_clock;

/// In CPUs. With more than that the machine does other things, and its CPU time says nothing about the phase.
constexpr double most_idle_load = 0.1;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Adds up what happened between two readings; nothing is known as soon as one of them is missing.
class DeviceMeter {
 public:
  explicit DeviceMeter(std::string major_minor) : major_minor_(std::move(major_minor)) {}
  void start() { before_ = read_device_counters(major_minor_); }
  void stop() {
    const std::optional<DeviceCounters> after = read_device_counters(major_minor_);
    if (!before_ || !after) known_ = false;
    if (known_) total_ += activity_between(*before_, *after);
  }
  std::optional<DeviceActivity> total() const { return known_ ? std::optional(total_) : std::nullopt; }

 private:
  std::string major_minor_;
  std::optional<DeviceCounters> before_;
  DeviceActivity total_;
  bool known_ = true;
};

}  // namespace

/// What is added up over the repetitions of one phase.
struct PhaseRunner::Measured {
  explicit Measured(const std::string& major_minor) : device(major_minor), device_sync(major_minor) {}
  std::vector<RepetitionResult> repetitions;
  DeviceMeter device, device_sync;
  std::optional<double> machine_cpu_seconds = 0;
  std::optional<double> sync_seconds;
  double seconds = 0;  // of the repetitions
  std::uint64_t files = 0;
  double suspended_seconds = 0;
  CacheRecord cache;
  CachePolicy state = CachePolicy::remount;  // the least of all repetitions
};

void PhaseRunner::run(const phases::TreeParameters& tree, PassRecord& pass) {
  tree_ = tree;
  empty_ = read_space(filesystem_.root_fd());
  const Cell& cell = context_.cell;
  phases::Expectation expectation;
  expectation.files_per_tree = phases::plan_tree(tree).files;
  expectation.trees = static_cast<std::uint64_t>(cell.processes) * static_cast<std::uint64_t>(cell.repetitions);
  pass.planned_files = 0;
  std::string trouble;
  for (const phases::Phase* phase : cell.phases) {
    const std::uint64_t planned = phase->planned_files(expectation) * expectation.trees;
    context_.services.observer.phase_started(pass.median_file_size_bytes, phase->label, planned);
    PhaseRecord& result = pass.phases.emplace_back();
    run_phase(*phase, planned, trouble, result);
    if (phase->writes_files) {
      survey(result, pass);
      pass.planned_files += planned;
    }
    // A phase without a time because the machine slept, or because a byte was wrong, has left all its files.
    const bool spoiled =
        result.operations != planned || std::any_of(result.errors.begin(), result.errors.end(),
                                                    [](const ErrorRecord& e) { return e.operation != "verify"; });
    if (spoiled && trouble.empty()) trouble = result.name;
    expectation.copied |= std::string_view(phase->name) == "copy";
    expectation.linked |= std::string_view(phase->name) == "symlink";
    context_.services.observer.phase_finished(pass.median_file_size_bytes, result);
    context_.services.watch.check();
  }
}

void PhaseRunner::run_phase(const phases::Phase& phase, std::uint64_t planned, const std::string& trouble,
                            PhaseRecord& result) {
  Measured measured(filesystem_.major_minor());
  measured.cache.requested = cache_policy_name(policy_of(context_.cell.cache, phase.name));
  try {
    run_repetitions(phase, measured);
    result = judge_phase(phase, planned, measured.repetitions, read_space(filesystem_.root_fd()), trouble);
    fill(phase, measured, result);
    if (context_.cell.verify && phase.verify != nullptr && result.status == Status::ok) verify(phase, result);
  } catch (const Interrupted& interrupted) {
    result = judge_phase(phase, planned, measured.repetitions, Space{}, trouble);
    result.cache = measured.cache;
    end_without_time(result, Status::interrupted,
                     fmt::format("{}, {} of {} files", interrupted.what(), result.operations, planned));
    throw;
  } catch (const RunError& error) {
    result = judge_phase(phase, planned, measured.repetitions, Space{}, trouble);
    result.cache = measured.cache;
    end_without_time(result, Status::failed, error.what());
    throw;
  }
}

RepetitionRequest PhaseRunner::request_for(const phases::Phase& phase) const {
  const Cell& cell = context_.cell;
  RepetitionRequest request;
  request.phase = &phase;
  request.processes = cell.processes;
  request.mount_fd = filesystem_.root_fd();
  request.mount_path = context_.record.mount.point;
  request.own_files = cell.driver->own_files;
  request.tree = tree_;
  request.write_buffer_size = cell.profile.write_buffer_size;
  request.content = cell.content;
  request.sync_each = cell.sync == SyncPolicy::each;
  request.measure_latencies = cell.latency;
  request.tick_scale = idle_.tick_scale;
  return request;
}

void PhaseRunner::run_repetitions(const phases::Phase& phase, Measured& measured) {
  const Cell& cell = context_.cell;
  const CachePolicy policy = policy_of(cell.cache, phase.name);
  RunObserver& observer = context_.services.observer;
  for (int repetition = 1; repetition <= cell.repetitions; ++repetition) {
    measured.state = std::min(measured.state, prepare_caches(policy, filesystem_, measured.cache));
    RepetitionRequest request = request_for(phase);  // after a remount with another root
    request.repetition = repetition;
    if (cell.phase_timeout_seconds) {
      const auto left = std::chrono::duration<double>(*cell.phase_timeout_seconds - measured.seconds);
      request.deadline =
          std::max(std::chrono::milliseconds(1), std::chrono::duration_cast<std::chrono::milliseconds>(left));
    }
    request.progress_interval = std::chrono::milliseconds(observer.progress_interval());
    const auto started = Clock::now();
    request.progress = [&](std::uint64_t files) {
      observer.phase_progress(measured.files + files, measured.seconds + seconds_since(started));
    };
    run_one(request, measured);
    const bool last = repetition == cell.repetitions || !measured.repetitions.back().failure.empty();
    // Where caches are emptied before the next repetition its data would be written there, seen by nobody.
    if (last || policy != CachePolicy::warm) sync(measured);
    if (last) break;
  }
}

void PhaseRunner::run_one(RepetitionRequest& request, Measured& measured) {
  request.at_start = [&] { context_.services.observer.repetition_started(); };
  request.at_end = [&] { context_.services.observer.repetition_finished(); };
  measured.device.start();
  const std::optional<double> busy_before = read_busy_seconds();
  const ClockReading clocks_before = read_clocks();
  const auto started = Clock::now();
  run_repetition(request, context_.services.watch, measured.repetitions.emplace_back());
  const double lasted = seconds_since(started);
  measured.suspended_seconds += suspended_seconds(clocks_before, read_clocks());
  const std::optional<double> busy_after = read_busy_seconds();
  measured.device.stop();
  // What other programs use during the phase is not what they used before it.
  const bool known = busy_before && busy_after && idle_.load < most_idle_load;
  if (!known) measured.machine_cpu_seconds.reset();
  if (measured.machine_cpu_seconds) {
    const RepetitionResult& done = measured.repetitions.back();
    // Ticks are coarse: the machine cannot have done less than the processes.
    *measured.machine_cpu_seconds +=
        std::max(done.cpu_user_seconds + done.cpu_system_seconds, *busy_after - *busy_before - idle_.load * lasted);
  }
  measured.seconds += measured.repetitions.back().seconds;
  measured.files += measured.repetitions.back().files;
}

void PhaseRunner::sync(Measured& measured) {
  if (context_.cell.sync == SyncPolicy::none) return;
  measured.device_sync.start();
  const SyncResult synced = filesystem_.sync();
  measured.device_sync.stop();
  measured.sync_seconds = measured.sync_seconds.value_or(0) + synced.seconds;
  if (synced.error != 0) {
    merge_errors(measured.repetitions.back().errors, {{"sync", synced.error, errno_name(synced.error), 1, ""}});
  }
}

void PhaseRunner::fill(const phases::Phase& phase, const Measured& measured, PhaseRecord& result) const {
  result.cache = measured.cache;
  result.cache.state = cache_policy_name(measured.state);
  result.sync_seconds = measured.sync_seconds;
  result.machine_cpu_seconds = measured.machine_cpu_seconds;
  result.device = measured.device.total();
  if (measured.sync_seconds) result.device_sync = measured.device_sync.total();
  if (phase.writes_files && result.bytes > 0 && result.device && result.device_sync) {
    result.write_amplification = static_cast<double>(result.device->written_bytes + result.device_sync->written_bytes) /
                                 static_cast<double>(result.bytes);
  }
  if (measured.suspended_seconds > 0) result.suspended_seconds = measured.suspended_seconds;
  // All processes read the same files: the first one brings them into memory.
  const std::uint64_t from_device = result.bytes / static_cast<std::uint64_t>(context_.cell.processes);
  const bool cold = measured.state != CachePolicy::warm;
  if (cold && std::string_view(phase.name) == "read" && result.device &&
      static_cast<double>(result.device->read_bytes) < 0.95 * static_cast<double>(from_device)) {
    result.flags.emplace_back("few-device-reads");
  }
  judge_conditions(result, context_.record.host.clock_resolution_ns);
}

void PhaseRunner::verify(const phases::Phase& phase, PhaseRecord& result) {
  // What is in memory only need not be what is on the device.
  const CachePolicy policy = policy_of(context_.cell.cache, phase.name);
  CacheRecord unused;
  prepare_caches(policy, filesystem_, unused);
  const auto started = Clock::now();
  std::vector<RepetitionResult> repetitions;
  for (int repetition = 1; repetition <= context_.cell.repetitions; ++repetition) {
    RepetitionRequest request = request_for(phase);
    request.repetition = repetition;
    request.verify = true;
    request.measure_latencies = false;
    repetitions.push_back(run_repetition(request, context_.services.watch));
  }
  result.verify_seconds = seconds_since(started);
  judge_verification(result, repetitions);
}

void PhaseRunner::survey(PhaseRecord& result, PassRecord& pass) {
  const Survey found =
      survey_filesystem(filesystem_.root_fd(), context_.services.watch, context_.cell.driver->own_files);
  result.files = pass.files = found.files;
  result.directories = pass.directories = found.directories;
  result.data_bytes = found.data_bytes;
  if (context_.cell.sync == SyncPolicy::none) {
    // What has no place yet is neither used space nor a fragment.
    result.fragmentation.emplace();
    result.fragmentation->reason = "not counted: without a sync (--sync none) the data has no place yet";
    return;
  }
  // After the sync, so that what is still to be allocated does not show as used or as missing.
  const std::uint64_t used = read_space(filesystem_.root_fd()).used_bytes;
  result.used_kib = used > empty_.used_bytes ? (used - empty_.used_bytes) / 1024 : 0;
  result.allocated_bytes = found.allocated_bytes;
  result.fragmentation = found.fragmentation;
  result.free_space = read_free_space(filesystem_.root_fd());
}

}  // namespace mongo
