#include "harness/run/cell_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include "harness/core/descriptor.h"
#include "harness/core/errors.h"
#include "harness/device/busy.h"
#include "harness/device/device_lock.h"
#include "harness/device/guard.h"
#include "harness/device/journal.h"
#include "harness/device/lease.h"
#include "harness/device/loop.h"
#include "harness/device/mkfs_options.h"
#include "harness/device/mount.h"
#include "harness/device/signatures.h"
#include "harness/measure/activity.h"
#include "harness/measure/host.h"
#include "harness/measure/space.h"
#include "harness/measure/survey.h"
#include "harness/report/append.h"
#include "harness/run/availability.h"
#include "harness/run/mkfs_command.h"
#include "harness/run/phase_result.h"
#include "phases/support/tree.h"

namespace mongo {
namespace {

using namespace std::chrono_literals;

constexpr auto mkfs_deadline = 30min;  // discarding a large disk takes its time
constexpr auto unmount_patience = 30s;
constexpr auto cleanup_patience = 30s;
constexpr auto busy_patience = 20s;
constexpr auto probe_patience = 10s;  // a udev probe after a format takes some 100 ms

/// One run. The order of its steps is the order of the leases, which are undone in reverse.
class CellRun {
 public:
  CellRun(const Cell& cell, const RunServices& services) : cell_(cell), services_(services) {}

  RunRecord run() {
    try {
      return run_to_the_end();
    } catch (...) {
      undo();  // what was refused has touched nothing, but may have attached a loop device
      throw;
    }
  }

 private:
  RunRecord run_to_the_end() {
    start_record();
    if (const auto why = why_unavailable(*cell_.driver, &services_.runner)) {
      record_.status = Status::unsupported;
      record_.reason = *why;
      record_.ended_at = utc_now();
      check_results_writable(cell_.results, cell_.log);
      return record_;
    }
    if (geteuid() != 0) {
      throw Error(ExitStatus::failed,
                  "formatting and mounting need root. Run the same command as root, e.g. with sudo");
    }
    check_mkfs_options({cell_.driver->name, cell_.driver->mkfs_options, cell_.driver->refused_mkfs_suboptions},
                       cell_.mkfs_options);
    check_mount_options(cell_.mount_options);
    clean_up_after_killed_runs();
    enter_private_mount_namespace();
    MountPoint point = MountPoint::check(cell_.mount_point);
    record_.mount.point = point.path();
    services_.watch.check();
    journal_ = Journal::open(state_folder(), record_.run_id);
    open_device();
    check_results_writable(cell_.results, cell_.log);

    bool began = false;
    try {
      find_mkfs_version();
      measure_idle_load();
      leases_.add("remove the mount point", [this, &point] { report_undo(point.remove()); });
      point.make(record_.run_id, [this](const std::string& path, dev_t device, ino_t inode) {
        journal_->add({JournalStep::Kind::directory, path, "", device, inode});
      });
      // From here on the device is not what it was, so whatever happens belongs into a record.
      began = true;
      for (const phases::TreeParameters& tree : cell_.profile.passes) run_pass(tree);
    } catch (const Interrupted& interrupted) {
      if (!began) throw;
      record_.status = Status::interrupted;
      record_.reason = interrupted.what();
    } catch (const DeviceRefused& refused) {
      if (!began) throw;
      // The check before a later format: something took the device in the middle of the run.
      if (record_.passes.empty()) throw;
      record_.status = Status::failed;
      record_.reason = refused.what();
    } catch (const RunError& error) {
      if (!began) throw;
      record_.status = Status::failed;
      record_.reason = error.what();
    }
    undo();
    judge_run(record_);
    record_.ended_at = utc_now();
    return record_;
  }

  void start_record() {
    record_.run_id = make_run_id();
    record_.started_at = utc_now();
    record_.mongo_version = MONGO_VERSION;
    record_.log = cell_.log;
    record_.host = describe_host();
    record_.device.given = cell_.device.given;
    record_.filesystem = cell_.driver->name;
    record_.mount.point = cell_.mount_point;
    record_.mount.requested = cell_.mount_options;
    record_.mkfs.options = cell_.mkfs_options;
    record_.processes = cell_.processes;
    record_.repetitions = cell_.repetitions;
    record_.profile = cell_.profile.name;
  }

  void clean_up_after_killed_runs() {
    const CleanupReport report = clean_up(state_folder(), cleanup_patience);
    for (const std::string& text : report.undone) note("left by a killed run: " + text);
    for (const std::string& text : report.left) note("left by a killed run and still there: " + text);
  }

  void note(const std::string& text) {
    record_.notes.push_back(text);
    services_.observer.note(text);
  }

  static void report_undo(const std::string& problem) {
    if (!problem.empty()) throw RunError("undo", problem);
  }

  /// Attaches a loop device where one is asked for, then lets the guard look at the device under the lock.
  void open_device() {
    std::string path = cell_.device.path;
    DeviceRecord& device = record_.device;
    device.kind = "block";
    if (cell_.device.kind != DeviceSpec::Kind::block) {
      loop_ = LoopDevice::attach(cell_.device, [this](const std::string& node, dev_t file_device, ino_t inode) {
        journal_->add({JournalStep::Kind::loop, "", node, file_device, inode});
      });
      leases_.add("detach " + loop_->node(), [this] { loop_->detach(); });
      path = loop_->node();
      device.kind = cell_.device.kind == DeviceSpec::Kind::ram ? "ram" : "loop";
      device.backing = loop_->backing();
    }
    GuardOptions options;
    options.destroy = cell_.destroy;
    options.keep_paths = {cell_.results, "/proc/self/exe"};
    guard_ = std::make_unique<Guard>(options);
    block_ = guard_->resolve(path);
    journal_->add({JournalStep::Kind::lock, DeviceLock::path_of(block_.major, block_.minor), "", 0, 0});
    lock_ = DeviceLock::take(block_.major, block_.minor);
    // Before the loop device is detached: whoever gets it next must not find it locked.
    leases_.add("release the lock", [this] { lock_.reset(); });
    require_unused(block_);
    device.resolved = block_.resolved;
    device.major_minor = block_.major_minor();
    device.size_bytes = block_.size_bytes;
    device.model = block_.model;
    device.serial = block_.serial;
    device.by_id = block_.by_id;
    if (device.backing.empty()) device.backing = block_.backing;
    if (device.kind == "block" && !block_.backing.empty()) device.kind = "loop";
    uuid_ = make_uuid();
    record_.mkfs.argv = mkfs_argv(cell_, block_.resolved, uuid_);
  }

  /// The guard's check. Who merely has the device open exclusively is waited for: a udev probe after an unmount, or the
  /// kernel that still writes back what a killed run left. All else is a refusal at once.
  void require_unused(const BlockDevice& device) {
    const auto start = std::chrono::steady_clock::now();
    bool said = false;
    while (true) {
      const std::optional<Refusal> refusal = guard_->check(device);
      const auto waited = std::chrono::steady_clock::now() - start;
      if (!refusal) {
        if (waited > 100ms) {
          note(fmt::format("waited {:.1f} s until nobody else had {} open",
                           std::chrono::duration<double>(waited).count(), device.resolved));
        }
        return;
      }
      if (refusal->reason != Refusal::Reason::busy || waited > busy_patience) throw DeviceRefused(refusal->text());
      services_.watch.check();
      if (!said && waited > 1s) {
        services_.observer.note(fmt::format("waiting for at most {} s: {}", busy_patience.count(), refusal->what));
        said = true;
      }
      std::this_thread::sleep_for(50ms);
    }
  }

  void find_mkfs_version() {
    if (cell_.driver->version_argv.empty()) return;
    const CommandResult result = services_.runner.run({cell_.driver->version_argv, 30s});
    const std::string& text = result.out.empty() ? result.err : result.out;
    record_.mkfs.version = text.substr(0, text.find('\n'));
  }

  /// Programs that look at devices (udev, multipathd) open them exclusively for a moment whenever something has
  /// changed, and nobody can keep them from doing so in the middle of a step. A step that fails because the device is
  /// busy is done again, for a bounded time.
  void again_while_busy(const std::function<void()>& step) {
    const auto start = std::chrono::steady_clock::now();
    for (int attempt = 1;; ++attempt) {
      try {
        step();
        if (attempt > 1) note(fmt::format("{} attempts, because something had {} open", attempt, block_.resolved));
        return;
      } catch (const RunError& error) {
        // The programs say it in words: LC_ALL is C.
        const std::string text = error.what();
        const bool busy = text.find("busy") != std::string::npos || text.find("in use") != std::string::npos;
        if (!busy || std::chrono::steady_clock::now() - start > busy_patience) throw;
      }
      services_.watch.check();
      std::this_thread::sleep_for(20ms);
    }
  }

  void format(PassRecord& pass) {
    const BlockDevice now = guard_->resolve(block_.given);
    if (now.major != block_.major || now.minor != block_.minor || now.size_bytes != block_.size_bytes ||
        now.serial != block_.serial) {
      throw DeviceRefused(fmt::format(
          "{} leads to another device than at the start of the run: {} of {}, serial '{}', and not {} of {}, "
          "serial '{}'. Name it by something that does not move, as below /dev/disk/by-id",
          block_.given, now.major_minor(), format_rounded(ByteSize{now.size_bytes}), now.serial, block_.major_minor(),
          format_rounded(ByteSize{block_.size_bytes}), block_.serial));
    }
    require_unused(now);
    const std::vector<Signature> found = read_signatures(block_.resolved);
    if (record_.passes.empty() && !found.empty()) {
      record_.device.destroyed = found;
      for (const Signature& signature : found) note("destroyed: " + describe(signature));
    }
    CommandResult result;
    again_while_busy([&] { wipe_signatures(block_.resolved); });
    try {
      again_while_busy([&] { result = run_checked(services_.runner, {record_.mkfs.argv, mkfs_deadline}, "mkfs"); });
    } catch (...) {
      // Half a file system has no signature: left so, the device would be taken for somebody's data next time.
      try {
        wipe_signatures(block_.resolved);
      } catch (const RunError& error) {
        note(std::string("what mkfs left could not be wiped: ") + error.what());
      }
      throw;
    }
    pass.mkfs_seconds = result.seconds.count();
    record_.mkfs.seconds += pass.mkfs_seconds;
    wait_until_free(block_.resolved, probe_patience);
  }

  void run_pass(const phases::TreeParameters& tree) {
    services_.watch.check();
    PassRecord pass;
    pass.median_file_size_bytes = tree.median_file_size;
    format(pass);
    const std::size_t before_mount = leases_.size();
    leases_.add("unmount " + record_.mount.point,
                [this] { unmount_filesystem(record_.mount.point, unmount_patience); });
    record_.passes.push_back(pass);
    journal_->add(
        {JournalStep::Kind::mount, record_.mount.point, block_.resolved, makedev(block_.major, block_.minor), 0});
    again_while_busy([&] {
      record_.mount.effective =
          mount_filesystem({block_.resolved, cell_.driver->kernel_type, cell_.mount_options, record_.mount.point});
    });
    run_phases(tree, record_.passes.back());
    throw_failures(leases_.undo_to(before_mount));
  }

  void run_phases(const phases::TreeParameters& tree, PassRecord& pass) {
    const Descriptor root(open(record_.mount.point.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (root.get() < 0) throw RunError("mount", "cannot open the mount point: " + errno_text(errno));
    const Space empty = read_space(root.get());
    phases::Expectation expectation;
    expectation.files_per_tree = phases::plan_tree(tree).files;
    expectation.trees = static_cast<std::uint64_t>(cell_.processes) * static_cast<std::uint64_t>(cell_.repetitions);
    std::string trouble;
    for (const phases::Phase* phase : cell_.phases) {
      const std::uint64_t planned = phase->planned_files(expectation) * expectation.trees;
      PhaseRecord result = run_phase(*phase, tree, planned, root.get(), trouble, pass);
      if (phase->writes_files) {
        survey(root.get(), empty, result, pass);
        pass.planned_files += planned;
      }
      if (result.status != Status::ok && trouble.empty()) trouble = result.name;
      expectation.copied |= std::string_view(phase->name) == "copy";
      expectation.linked |= std::string_view(phase->name) == "symlink";
      services_.observer.phase_finished(pass.median_file_size_bytes, result);
      pass.phases.push_back(std::move(result));
      services_.watch.check();
    }
  }

  PhaseRecord run_phase(const phases::Phase& phase, const phases::TreeParameters& tree, std::uint64_t planned,
                        int root_fd, const std::string& trouble, PassRecord& pass) {
    services_.observer.phase_started(pass.median_file_size_bytes, phase.label, planned);
    std::vector<RepetitionResult> repetitions;
    std::uint64_t done = 0;
    double elapsed = 0;
    const auto started = std::chrono::steady_clock::now();
    const std::optional<DeviceCounters> device_before = read_device_counters(block_.major_minor());
    const std::optional<double> busy_before = read_busy_seconds();
    RepetitionRequest request;
    request.phase = &phase;
    request.processes = cell_.processes;
    request.mount_fd = root_fd;
    request.mount_path = record_.mount.point;
    request.tree = tree;
    request.write_buffer_size = cell_.profile.write_buffer_size;
    request.measure_latencies = cell_.latency;
    request.progress_interval = std::chrono::milliseconds(services_.observer.progress_interval());
    request.progress = [&](std::uint64_t files) {
      elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
      services_.observer.phase_progress(done + files, elapsed);
    };
    try {
      for (request.repetition = 1; request.repetition <= cell_.repetitions; ++request.repetition) {
        repetitions.push_back(run_repetition(request, services_.watch));
        done += repetitions.back().files;
        if (!repetitions.back().failure.empty()) break;
      }
      const double lasted = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
      const std::optional<double> busy_after = read_busy_seconds();
      const std::optional<DeviceCounters> device_after = read_device_counters(block_.major_minor());
      const Space after = read_space(root_fd);
      PhaseRecord result = judge_phase(phase, planned, repetitions, after, trouble);
      result.sync_seconds = sync_filesystem(root_fd);
      if (busy_before && busy_after) {
        result.machine_cpu_seconds = std::max(0.0, *busy_after - *busy_before - idle_load_ * lasted);
      }
      add_device_activity(result, device_before, device_after, read_device_counters(block_.major_minor()),
                          phase.writes_files);
      return result;
    } catch (const Interrupted& interrupted) {
      PhaseRecord result = judge_phase(phase, planned, repetitions, Space{}, trouble);
      result.status = Status::interrupted;
      result.seconds.reset();
      result.repetition_seconds.clear();
      result.reason = interrupted.what();
      pass.phases.push_back(std::move(result));
      throw;
    }
  }

  static void add_device_activity(PhaseRecord& result, const std::optional<DeviceCounters>& before,
                                  const std::optional<DeviceCounters>& after,
                                  const std::optional<DeviceCounters>& synced, bool writes_files) {
    if (!before || !after || !synced) return;
    result.device = activity_between(*before, *after);
    result.device_sync = activity_between(*after, *synced);
    if (writes_files && result.bytes > 0) {
      result.write_amplification =
          static_cast<double>(result.device->written_bytes + result.device_sync->written_bytes) /
          static_cast<double>(result.bytes);
    }
  }

  /// How busy this machine is by itself, in CPUs, over half a second in which the run does nothing.
  void measure_idle_load() {
    const std::optional<double> before = read_busy_seconds();
    const auto start = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(500ms);
    const std::optional<double> after = read_busy_seconds();
    if (!before || !after) return;
    idle_load_ = (*after - *before) / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  void survey(int root_fd, const Space& empty, PhaseRecord& result, PassRecord& pass) {
    // After the sync, so that what is still to be allocated does not show as used or as missing.
    const std::uint64_t used = read_space(root_fd).used_bytes;
    result.used_kib = used > empty.used_bytes ? (used - empty.used_bytes) / 1024 : 0;
    const Survey found = survey_filesystem(root_fd, services_.watch);
    result.files = pass.files = found.files;
    result.directories = pass.directories = found.directories;
    result.fragmentation = found.fragmentation;
  }

  static void throw_failures(const std::vector<std::string>& failures) {
    if (!failures.empty()) throw RunError("undo", fmt::format("{}", fmt::join(failures, "; ")));
  }

  void undo() {
    const std::vector<std::string> failures = leases_.undo_all();
    if (failures.empty()) {
      if (journal_) journal_->finish();
      journal_.reset();
      return;
    }
    // The journal stays, so that `mongo cleanup` can finish this.
    for (const std::string& failure : failures) services_.observer.note("not undone: " + failure);
    if (record_.status != Status::interrupted) record_.status = Status::failed;
    record_.reason += fmt::format("{}not undone: {}", record_.reason.empty() ? "" : "; ", fmt::join(failures, "; "));
  }

  const Cell& cell_;
  const RunServices& services_;
  RunRecord record_;
  BlockDevice block_;
  std::string uuid_;
  double idle_load_ = 0;  // CPUs
  std::unique_ptr<Guard> guard_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<DeviceLock> lock_;
  std::unique_ptr<LoopDevice> loop_;
  LeaseStack leases_;  // last: its undos use what is above
};

}  // namespace

RunRecord run_cell(const Cell& cell, const RunServices& services) { return CellRun(cell, services).run(); }

int exit_status(const RunRecord& record, const InterruptWatch& watch) {
  switch (record.status) {
    case Status::ok:
      return static_cast<int>(ExitStatus::ok);
    case Status::incomplete:
      return static_cast<int>(ExitStatus::incomplete);
    case Status::unsupported:
      return static_cast<int>(ExitStatus::unsupported);
    case Status::interrupted:
      return 128 + watch.signal_number();
    case Status::failed:
    case Status::skipped:
      break;
  }
  return static_cast<int>(ExitStatus::failed);
}

}  // namespace mongo
