// The inside of a guest: one pass on /dev/ubda.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "harness/core/errors.h"
#include "harness/device/mount.h"
#include "harness/measure/cache.h"
#include "harness/measure/host.h"
#include "harness/report/record_json.h"
#include "harness/run/guest_pass.h"
#include "harness/run/guest_request.h"
#include "harness/run/guest_words.h"
#include "harness/run/phase_runner.h"

namespace mongo {
namespace {

using namespace std::chrono_literals;

constexpr auto patience_for_host = 10min;

/// Written beside and renamed, so that the host never reads half of it.
void write_record(const std::string& folder, const RunRecord& record) {
  const std::string path = folder + "/" + guest_words::result_file, beside = path + ".new";
  {
    std::ofstream out(beside, std::ios::binary);
    out << to_json_line(record) << std::flush;
    if (!out) throw RunError("guest", "the result cannot be written: " + errno_text(errno));
  }
  if (rename(beside.c_str(), path.c_str()) != 0) throw RunError("guest", "rename of the result: " + errno_text(errno));
}

/// Asks the host to do something, and waits until it has.
class Questions {
 public:
  explicit Questions(std::string folder) : folder_(std::move(folder)) {}

  /// Throws RunError(step, ...) with what the host says went wrong.
  void ask(const char* question, const char* step) {
    const std::string answer = fmt::format("{}/{}{}", folder_, guest_words::answer_file, ++asked_);
    tell_host(fmt::format("{} {}", question, asked_));
    const auto limit = std::chrono::steady_clock::now() + patience_for_host;
    while (access(answer.c_str(), F_OK) != 0) {
      if (std::chrono::steady_clock::now() > limit) {
        throw RunError(step, fmt::format("the host did not answer '{}'", question));
      }
      std::this_thread::sleep_for(2ms);
    }
    std::string trouble;
    std::getline(std::ifstream(answer), trouble);
    unlink(answer.c_str());
    if (!trouble.empty()) throw RunError(step, trouble);
  }

 private:
  std::string folder_;
  int asked_ = 0;
};

/// Passes on to the host what a run does.
class HostObserver : public RunObserver {
 public:
  HostObserver(const RunRecord& record, std::string folder, int interval, Questions& questions)
      : record_(record), folder_(std::move(folder)), interval_(interval), questions_(questions) {}
  void note(const std::string& text) override { tell_host(fmt::format("{} {}", guest_words::note, text)); }
  void phase_started(std::uint64_t median, const std::string& label, std::uint64_t planned) override {
    tell_host(fmt::format("{} {} {} {}", guest_words::phase_started, median, label, planned));
  }
  void phase_progress(std::uint64_t files, double seconds) override {
    tell_host(fmt::format("{} {} {}", guest_words::progress, files, seconds));
  }
  void phase_finished(std::uint64_t median, const PhaseRecord&) override {
    write_record(folder_, record_);
    tell_host(fmt::format("{} {}", guest_words::phase_finished, median));
  }
  void repetition_started() override { questions_.ask(guest_words::begin, "guest"); }
  void repetition_finished() override { questions_.ask(guest_words::end, "guest"); }
  int progress_interval() const override { return interval_; }

 private:
  const RunRecord& record_;
  std::string folder_;
  int interval_;
  Questions& questions_;
};

class GuestFilesystem : public MountedFilesystem {
 public:
  GuestFilesystem(const GuestJob& job, const Cell& cell, RunRecord& record, Questions& questions)
      : job_(job), cell_(cell), mount_(record.mount), questions_(questions) {}

  void mount() {
    mount_.effective =
        mount_filesystem({job_.device, cell_.driver->kernel_type, cell_.mount_options, job_.mount_point});
    open_root();
  }
  void unmount() {
    root_ = Descriptor();
    unmount_filesystem(job_.mount_point, unmount_patience);
  }
  int root_fd() const override { return root_.get(); }
  std::string major_minor() const override {
    struct stat info {};
    if (stat(job_.device.c_str(), &info) != 0) return "";
    return fmt::format("{}:{}", major(info.st_rdev), minor(info.st_rdev));
  }
  void remount() override {
    try {
      unmount();
    } catch (const RunError&) {
      open_root();
      throw;
    }
    const Descriptor device(open(job_.device.c_str(), O_RDONLY | O_CLOEXEC));
    if (!device || ioctl(device.get(), BLKFLSBUF, 0) != 0) {
      throw RunError("remount", "emptying the cache of the guest's device: " + errno_text(errno));
    }
    empty_host_caches();
    mount();
  }
  int drop_caches() override {
    if (const int error = mongo::drop_caches(); error != 0) return error;
    empty_host_caches();
    return 0;
  }

 private:
  void open_root() { root_ = open_mount_root(job_.mount_point); }

  /// The guest's device is a file or device of the host, which has a page cache of its own for it.
  void empty_host_caches() { questions_.ask(guest_words::empty_caches, "remount"); }

  const GuestJob& job_;
  const Cell& cell_;
  MountRecord& mount_;
  Questions& questions_;
  Descriptor root_;
};

}  // namespace

int work_in_guest(const GuestJob& job) {
  const InterruptWatch watch;
  std::ifstream in(job.folder + "/" + guest_words::request_file);
  const GuestPassRequest request = guest_pass_from_json(nlohmann::ordered_json::parse(in));
  const Cell cell = resolve(request.request);
  RunRecord record;
  record.run_id = "guest";
  record.filesystem = cell.driver->name;
  record.host = describe_host();
  record.mount.point = job.mount_point;
  Questions questions(job.folder);
  HostObserver observer(record, job.folder, request.progress_interval, questions);
  RealRunner runner(&watch);
  const RunServices services{runner, watch, observer};
  LeaseStack leases;
  std::unique_ptr<Journal> no_journal;
  RunContext context{cell, services, record, leases, no_journal};
  GuestFilesystem filesystem(job, cell, record, questions);
  try {
    filesystem.mount();
    const phases::TreeParameters& tree = cell.profile.passes.at(request.pass);
    PassRecord& pass = record.passes.emplace_back();
    pass.median_file_size_bytes = tree.median_file_size;
    PhaseRunner(context, filesystem, {}).run(tree, pass);
    filesystem.unmount();
  } catch (const RunError& error) {
    record.status = Status::failed;
    record.reason = error.what();
  }
  write_record(job.folder, record);
  return 0;
}

}  // namespace mongo
