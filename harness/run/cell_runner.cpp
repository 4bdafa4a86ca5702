#include "harness/run/cell_runner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

#include "harness/core/errors.h"
#include "harness/core/quote.h"
#include "harness/device/journal.h"
#include "harness/device/lease.h"
#include "harness/device/mount.h"
#include "harness/device/run_lock.h"
#include "harness/guest/uml.h"
#include "harness/measure/host.h"
#include "harness/report/append.h"
#include "harness/run/availability.h"
#include "harness/run/directory_run.h"
#include "harness/run/guest_pass.h"
#include "harness/run/idle_machine.h"
#include "harness/run/phase_result.h"
#include "harness/run/phase_runner.h"
#include "harness/run/record_start.h"
#include "harness/run/run_context.h"
#include "harness/run/target.h"

namespace mongo {
namespace {

using namespace std::chrono_literals;

constexpr auto cleanup_patience = 30s;

/// One run. The order of its steps is the order of the leases, which are undone in reverse.
class CellRun {
 public:
  CellRun(const Cell& cell, const RunServices& services)
      : cell_(cell), services_(services), record_(start_record(cell)) {}

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
    const ChosenEnvironment chosen = choose_environment(cell_, &services_.runner);
    in_guest_ = chosen.environment == Environment::uml;
    if (in_guest_) record_.environment = "uml";
    if (chosen.why_not) {
      record_.status = Status::unsupported;
      record_.reason = *chosen.why_not;
      record_.ended_at = utc_now();
      check_results_writable(cell_.results, cell_.log);
      return record_;
    }
    if (const auto why = why_no_root(*cell_.driver)) throw Error(ExitStatus::failed, *why);
    check_options(cell_);
    clean_up_after_killed_runs();
    enter_private_mount_namespace();
    record_.mount.point = MountPoint::check(cell_.mount_point).path();
    services_.watch.check();
    journal_ = Journal::open(state_folder(), record_.run_id);
    MountPoint point = take_mount_point();
    target_.open();
    add_flags_and_warnings(cell_, record_, services_.observer);
    check_results_writable(cell_.results, cell_.log);

    bool began = false;
    try {
      find_mkfs_version();
      idle_ = look_at_idle_machine();
      leases_.add("remove the mount point", [this, &point] { report_undo(point.remove()); });
      point.make(record_.run_id, [this](const std::string& path, dev_t device, ino_t inode) {
        journal_->add({JournalStep::Kind::directory, path, "", device, inode});
      });
      // From here on the device is not what it was, so whatever happens belongs into a record.
      began = true;
      if (in_guest_) describe_guest();
      for (std::size_t i = 0; i < cell_.profile.passes.size(); ++i) run_pass(i);
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

  /// Another run's mount cannot be seen from here, and a directory that it has made is removed at its end.
  MountPoint take_mount_point() {
    const std::string lock = RunLock::path_of(record_.mount.point);
    journal_->add({JournalStep::Kind::lock, lock, "", 0, 0});
    mount_point_lock_ = RunLock::take(lock, fmt::format("the mount point '{}'", printable(record_.mount.point)));
    leases_.add("release the mount point", [this] { mount_point_lock_.reset(); });
    return MountPoint::check(cell_.mount_point);
  }

  void clean_up_after_killed_runs() {
    const CleanupReport report = clean_up(state_folder(), cleanup_patience);
    for (const std::string& text : report.undone) context_.note("left by a killed run: " + text);
    for (const std::string& text : report.left) context_.note("left by a killed run and still there: " + text);
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

  void run_pass(std::size_t index) {
    const phases::TreeParameters& tree = cell_.profile.passes[index];
    services_.watch.check();
    PassRecord pass;
    pass.median_file_size_bytes = tree.median_file_size;
    target_.format(pass);
    if (in_guest_) {
      record_.passes.push_back(pass);
      run_pass_in_guest(context_, target_, index, record_.passes.back());
      return;
    }
    const std::size_t before_mount = leases_.size();
    leases_.add("unmount " + record_.mount.point, [this] { target_.unmount(); });
    record_.passes.push_back(pass);
    target_.mount();
    PhaseRunner(context_, target_, idle_).run(tree, record_.passes.back());
    throw_failures(leases_.undo_to(before_mount));
  }

  void describe_guest() {
    record_.guest_kernel = "Linux " + guest_version();
    record_.flags.emplace_back("guest");
    context_.note(
        "in a guest latencies are not measured (a clock reading costs 15 us there), and CPU time is that of the "
        "whole guest as the host accounts for it");
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
  bool in_guest_ = false;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<RunLock> mount_point_lock_;
  RunContext context_{cell_, services_, record_, leases_, journal_};
  Target target_{context_};
  LeaseStack leases_;  // last: its undos use what is above
};

}  // namespace

RunRecord run_cell(const Cell& cell, const RunServices& services) {
  if (cell.driver->existing_directory) return run_in_directory(cell, services);
  return CellRun(cell, services).run();
}

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
