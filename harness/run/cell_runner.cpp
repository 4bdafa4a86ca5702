#include "harness/run/cell_runner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <thread>

#include "harness/core/errors.h"
#include "harness/device/journal.h"
#include "harness/device/lease.h"
#include "harness/device/mkfs_options.h"
#include "harness/device/mount.h"
#include "harness/measure/activity.h"
#include "harness/measure/environment.h"
#include "harness/measure/host.h"
#include "harness/report/append.h"
#include "harness/run/availability.h"
#include "harness/run/phase_result.h"
#include "harness/run/phase_runner.h"
#include "harness/run/run_context.h"
#include "harness/run/target.h"
#include "phases/support/ticks.h"

namespace mongo {
namespace {

using namespace std::chrono_literals;

constexpr auto cleanup_patience = 30s;

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
    target_.open();
    warn();
    check_results_writable(cell_.results, cell_.log);

    bool began = false;
    try {
      find_mkfs_version();
      look_at_idle_machine();
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
    record_.content = phases::content_name(cell_.content);
    record_.sync = sync_policy_name(cell_.sync);
    record_.verify = cell_.verify;
    if (cell_.phase_timeout_seconds) record_.phase_timeout_seconds = *cell_.phase_timeout_seconds;
    record_.mount.version = mount_version();
  }

  void clean_up_after_killed_runs() {
    const CleanupReport report = clean_up(state_folder(), cleanup_patience);
    for (const std::string& text : report.undone) context_.note("left by a killed run: " + text);
    for (const std::string& text : report.left) context_.note("left by a killed run and still there: " + text);
  }

  /// What holds for all figures of this run, and what may disturb it.
  void warn() {
    const DeviceRecord& device = record_.device;
    if (device.kind != "block") record_.flags.push_back(device.kind + "-device");
    if (device.direct_io == false && device.kind == "loop") record_.flags.emplace_back("second-page-cache");
    if (record_.mkfs.lazy_initialisation == true) record_.flags.emplace_back("lazy-initialisation");
    const bool reads_warm = std::any_of(cell_.phases.begin(), cell_.phases.end(), [&](const phases::Phase* phase) {
      return std::string_view(phase->name) == "read" && policy_of(cell_.cache, phase->name) == CachePolicy::warm;
    });
    record_.warnings = host_warnings(record_.host, reads_warm ? working_set_bytes(cell_) : 0);
    for (const std::string& warning : record_.warnings) services_.observer.note("warning: " + warning);
  }

  static void report_undo(const std::string& problem) {
    if (!problem.empty()) throw RunError("undo", problem);
  }

  void find_mkfs_version() {
    if (cell_.driver->version_argv.empty()) return;
    const CommandResult result = services_.runner.run({cell_.driver->version_argv, 30s});
    const std::string& text = result.out.empty() ? result.err : result.out;
    record_.mkfs.version = text.substr(0, text.find('\n'));
  }

  void run_pass(const phases::TreeParameters& tree) {
    services_.watch.check();
    PassRecord pass;
    pass.median_file_size_bytes = tree.median_file_size;
    target_.format(pass);
    const std::size_t before_mount = leases_.size();
    leases_.add("unmount " + record_.mount.point, [this] { target_.unmount(); });
    record_.passes.push_back(pass);
    target_.mount();
    PhaseRunner(context_, target_, idle_).run(tree, record_.passes.back());
    throw_failures(leases_.undo_to(before_mount));
  }

  /// Half a second in which the run does nothing.
  void look_at_idle_machine() {
    const phases::TickCalibration ticks;
    const std::optional<double> before = read_busy_seconds();
    const auto start = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(500ms);
    const std::optional<double> after = read_busy_seconds();
    idle_.tick_scale = ticks.scale();
    if (!before || !after) return;
    idle_.load = (*after - *before) / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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
  IdleMachine idle_;
  std::unique_ptr<Journal> journal_;
  RunContext context_{cell_, services_, record_, leases_, journal_};
  Target target_{context_};
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
