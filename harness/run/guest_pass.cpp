// The host's side of a pass in a guest.
#include "harness/run/guest_pass.h"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <sstream>

#include "harness/core/errors.h"
#include "harness/device/private_folder.h"
#include "harness/guest/uml.h"
#include "harness/report/record_json.h"
#include "harness/run/guest_request.h"
#include "harness/run/guest_words.h"

namespace mongo {
namespace {

using namespace std::chrono_literals;

/// Listens to one guest.
class GuestListener {
 public:
  GuestListener(RunContext& context, Target& target, std::string folder)
      : context_(context), target_(target), folder_(std::move(folder)) {}

  void hear(const std::string& line, pid_t guest) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    RunObserver& observer = context_.services.observer;
    if (what == guest_words::begin) {
      before_ = cpu_of(guest);
    } else if (what == guest_words::end) {
      cpu_seconds_[phase_] += std::max(0.0, cpu_of(guest) - before_);
    } else if (what == guest_words::progress) {
      std::uint64_t files = 0;
      double seconds = 0;
      if (words >> files >> seconds) observer.phase_progress(files, seconds);
    } else if (what == guest_words::phase_started) {
      std::uint64_t median = 0, planned = 0;
      std::string label;
      if (!(words >> median >> label >> planned)) return;
      observer.phase_started(median, label, planned);
    } else if (what == guest_words::phase_finished) {
      ++phase_;
      const std::optional<RunRecord> record = read_record();
      if (record && !record->passes.empty() && !record->passes[0].phases.empty()) {
        observer.phase_finished(record->passes[0].median_file_size_bytes, record->passes[0].phases.back());
      }
    } else if (what == guest_words::note) {
      context_.note("guest:" + line.substr(what.size()));
    } else if (what == guest_words::empty_caches) {
      std::string number;
      if (words >> number) empty_caches(number);
    }
  }

  /// As far as the guest has written it.
  std::optional<RunRecord> read_record() const {
    std::ifstream in(folder_ + "/" + guest_words::result_file);
    if (!in) return std::nullopt;
    try {
      return record_from_json(nlohmann::ordered_json::parse(in));
    } catch (const std::exception& error) {
      throw RunError("guest", std::string("its result cannot be read: ") + error.what());
    }
  }

  void add_cpu(PassRecord& pass) const {
    for (std::size_t i = 0; i < pass.phases.size(); ++i) {
      const auto found = cpu_seconds_.find(i);
      if (found == cpu_seconds_.end()) continue;
      PhaseRecord& phase = pass.phases[i];
      phase.machine_cpu_seconds = found->second;
      if (phase.seconds && *phase.seconds > 0) phase.machine_cpu_percent = 100 * found->second / *phase.seconds;
    }
  }

 private:
  static double cpu_of(pid_t guest) {
    const GuestCpu cpu = read_guest_cpu(guest);
    return cpu.user_seconds + cpu.system_seconds;
  }

  void empty_caches(const std::string& number) {
    std::string trouble;
    try {
      target_.forget_cached_blocks();
    } catch (const RunError& error) {
      trouble = error.what();
    }
    const std::string path = folder_ + "/" + guest_words::emptied_file + number;
    std::ofstream(path + ".new") << trouble;
    rename((path + ".new").c_str(), path.c_str());
  }

  RunContext& context_;
  Target& target_;
  std::string folder_;
  std::size_t phase_ = 0;
  double before_ = 0;
  std::map<std::size_t, double> cpu_seconds_;  // by the phase's number
};

std::chrono::milliseconds guest_deadline(const Cell& cell) {
  if (!cell.phase_timeout_seconds) return 24h * 7;
  // Each phase, its verification, and the time around them.
  return std::chrono::seconds(*cell.phase_timeout_seconds) * 2 * static_cast<int>(cell.phases.size()) + 30min;
}

}  // namespace

void run_pass_in_guest(RunContext& context, Target& target, std::size_t pass_index, PassRecord& pass) {
  // In this run's own mount namespace: nobody sees it, and it vanishes with the run.
  PrivateFolder folder(context.record.mount.point, {});
  GuestListener listener(context, target, folder.path());
  GuestPassRequest pass_request;
  pass_request.request = context.cell.request;
  pass_request.pass = pass_index;
  pass_request.progress_interval = context.services.observer.progress_interval();
  std::ofstream(folder.path() + "/" + guest_words::request_file) << to_json(pass_request).dump();
  GuestRequest request;
  request.device = target.node();
  request.folder = folder.path();
  request.filesystem = context.cell.driver->kernel_type;
  request.deadline = guest_deadline(context.cell);
  request.on_line = [&](const std::string& line, pid_t guest) { listener.hear(line, guest); };
  const GuestResult result = run_guest(request, context.services.watch);
  const std::optional<RunRecord> record = listener.read_record();
  if (record && !record->passes.empty()) {
    const PassRecord& found = record->passes[0];
    pass.planned_files = found.planned_files;
    pass.files = found.files;
    pass.directories = found.directories;
    pass.phases = found.phases;
    listener.add_cpu(pass);
    context.record.mount.effective = record->mount.effective;
  }
  folder.remove();
  if (!result.ok()) throw RunError("guest", result.failure);
  if (!record) throw RunError("guest", "it ended without a result");
  if (record->status == Status::failed) throw RunError("guest", record->reason);
}

}  // namespace mongo
