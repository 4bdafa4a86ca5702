// The host's side of a pass in a guest.
#include "harness/run/guest_pass.h"

#include <fmt/format.h>

#include <fstream>
#include <limits>
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

/// What only the host can account for: the guest takes all of its own CPU time for user time.
void forget_cpu(PassRecord& pass) {
  for (PhaseRecord& phase : pass.phases) {
    phase.cpu_user_seconds = phase.cpu_system_seconds = std::numeric_limits<double>::quiet_NaN();
    phase.cpu_percent.reset();
    phase.machine_cpu_seconds.reset();
    phase.machine_cpu_percent.reset();
  }
}

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
    if (what == guest_words::begin || what == guest_words::end) {
      std::string number;
      if (!(words >> number)) return;
      what == guest_words::begin ? begin_repetition(guest) : end_repetition(guest);
      answer(number, "");
    } else if (what == guest_words::progress) {
      std::uint64_t files = 0;
      double seconds = 0;
      if (words >> files >> seconds) observer.phase_progress(files, seconds);
    } else if (what == guest_words::phase_started) {
      std::uint64_t median = 0, planned = 0;
      std::string label;
      if (!(words >> median >> label >> planned)) return;
      for (const phases::Phase* phase : context_.cell.phases) {
        if (phase->label == label) at_work_ = fmt::format("{} at {} bytes", phase->name, median);
      }
      observer.phase_started(median, label, planned);
    } else if (what == guest_words::phase_finished) {
      ++phase_;
      at_work_.clear();
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

  /// "create at 100 bytes" while a phase is going on, else empty.
  const std::string& at_work() const { return at_work_; }

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

  /// What the guest has found out so far, for the pass.
  void hand_over(const RunRecord& record, PassRecord& pass) const {
    if (record.passes.empty()) return;
    const PassRecord& found = record.passes[0];
    pass.planned_files = found.planned_files;
    pass.files = found.files;
    pass.directories = found.directories;
    pass.phases = found.phases;
    forget_cpu(pass);
    add_cpu(pass);
    context_.record.mount.effective = record.mount.effective;
  }

 private:
  void add_cpu(PassRecord& pass) const {
    for (std::size_t i = 0; i < pass.phases.size(); ++i) {
      const auto found = used_.find(i);
      if (found == used_.end() || found->second.open || !found->second.cpu) continue;
      PhaseRecord& phase = pass.phases[i];
      phase.machine_cpu_seconds = found->second.cpu;
      if (phase.seconds) phase.machine_cpu_percent = 100 * *found->second.cpu / found->second.elapsed;
    }
  }

  /// Over the repetitions of a phase, between the host's readings.
  struct Used {
    std::optional<double> cpu = 0;  // seconds; nothing: not known of one of them
    double elapsed = 0;             // seconds
    bool open = false;              // a repetition has no end
  };

  void begin_repetition(pid_t guest) {
    used_[phase_].open = true;
    before_ = read_guest_cpu(guest);
  }

  void end_repetition(pid_t guest) {
    const GuestCpu after = read_guest_cpu(guest);
    Used& used = used_[phase_];
    used.open = false;
    const std::optional<double> more = cpu_between(before_, after);
    if (!more) used.cpu.reset();
    if (used.cpu) *used.cpu += *more;
    used.elapsed += after.last_second - before_.first_second;
  }

  void answer(const std::string& number, const std::string& trouble) const {
    const std::string path = folder_ + "/" + guest_words::answer_file + number;
    std::ofstream(path + ".new") << trouble;
    rename((path + ".new").c_str(), path.c_str());
  }

  void empty_caches(const std::string& number) {
    std::string trouble;
    try {
      target_.forget_cached_blocks();
    } catch (const RunError& error) {
      trouble = error.what();
    }
    answer(number, trouble);
  }

  RunContext& context_;
  Target& target_;
  std::string folder_;
  std::size_t phase_ = 0;
  std::string at_work_;  // the phase that is going on
  GuestCpu before_;
  std::map<std::size_t, Used> used_;  // by the phase's number
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
  GuestResult result;
  try {
    result = run_guest(request, context.services.watch);
  } catch (const Interrupted& interrupted) {
    if (const std::optional<RunRecord> record = listener.read_record()) listener.hand_over(*record, pass);
    throw Interrupted(interrupted.signal_number(), listener.at_work());
  }
  const std::optional<RunRecord> record = listener.read_record();
  if (record) listener.hand_over(*record, pass);
  folder.remove();
  if (!result.ok()) {
    throw RunError("guest", listener.at_work().empty() ? result.failure : listener.at_work() + ": " + result.failure);
  }
  if (!record) throw RunError("guest", "it ended without a result");
  if (record->status == Status::failed) throw RunError("guest", record->reason);
}

}  // namespace mongo
