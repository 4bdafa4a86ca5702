#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/core/interrupt.h"
#include "harness/core/record.h"
#include "phases/phase.h"
#include "phases/support/content.h"
#include "phases/support/latency.h"

namespace mongo {

/// What the P processes of one repetition of one phase are to do.
struct RepetitionRequest {
  const phases::Phase* phase = nullptr;
  int processes = 1;
  int repetition = 1;  // from 1
  int mount_fd = -1;
  std::string mount_path;
  std::vector<std::string> own_files;  // as in phases::Context
  phases::TreeParameters tree;
  std::size_t write_buffer_size = 4096;
  std::uint64_t content_seed = 1;
  phases::ContentSpec content;
  bool sync_each = false;  // fsync(2) after each file, in the phases that write files
  bool verify = false;     // Phase::verify instead of Phase::run; must not be null. No latencies then
  bool measure_latencies = true;
  std::uint64_t tick_scale = 0;  // phases::TickCalibration: latencies by ticks; 0: by clock_gettime(2)
  std::chrono::milliseconds start_deadline{std::chrono::minutes(2)};  // until all wait at the barrier
  std::chrono::milliseconds deadline{std::chrono::hours(24)};         // until all have ended
  std::chrono::milliseconds progress_interval{0};                     // 0: no progress
  std::function<void(std::uint64_t files_done)> progress;
  /// Called when all processes wait at the barrier, right before it is opened.
  std::function<void()> at_start;
  /// Called when all processes have done their work. They wait, outside of the time, until it has returned, so that
  /// what is told of living processes can be read. Not called when one of them did not come so far.
  std::function<void()> at_end;
};

/// What they did, summed over the processes.
struct RepetitionResult {
  double seconds = 0;             // from the opening of the barrier to the end of the last process; CLOCK_MONOTONIC
  double start_skew_seconds = 0;  // between the first and the last process to begin
  double overlap = 1;             // share of the time in which all processes were at work
  double cpu_user_seconds = 0;    // of the processes, inside the timed part
  double cpu_system_seconds = 0;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::shared_ptr<phases::Latencies> latencies;  // summed over the processes; null when not measured
  std::vector<ErrorRecord> errors;  // a difference that Phase::verify found has the name MISMATCH and code 0
  std::uint64_t errors_not_kept = 0;
  std::string failure;  // a process died or could not be started: how; empty otherwise
};

/// Starts the processes, lets them wait at one barrier, opens it, and waits for all of them to end. They are killed
/// when this process dies, when a signal comes (throws Interrupted), when the deadline passes or one of them dies
/// (`failure`). On return none is left. `result` tells what was done also when this throws. The processes do not
/// inherit the caller's umask: theirs is 022. Must be called while this process has no other thread.
void run_repetition(const RepetitionRequest& request, const InterruptWatch& watch, RepetitionResult& result);
RepetitionResult run_repetition(const RepetitionRequest& request, const InterruptWatch& watch);

/// Adds errors of one list to another, kind by kind.
void merge_errors(std::vector<ErrorRecord>& into, const std::vector<ErrorRecord>& from);

}  // namespace mongo
