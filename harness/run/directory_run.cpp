#include "harness/run/directory_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <set>

#include "harness/core/descriptor.h"
#include "harness/core/errors.h"
#include "harness/core/quote.h"
#include "harness/device/mount_table.h"
#include "harness/device/system_files.h"
#include "harness/measure/cache.h"
#include "harness/measure/host.h"
#include "harness/report/append.h"
#include "harness/run/idle_machine.h"
#include "harness/run/phase_result.h"
#include "harness/run/phase_runner.h"
#include "harness/run/record_start.h"
#include "phases/catalogue.h"

namespace mongo {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw DeviceRefused(fmt::format("refusing to work in '{}': {}. Name an existing directory that you may write to",
                                  printable(path), why));
}

/// Kernel interfaces: what is written there are no files, whatever the permissions say. Source: filesystems(5) and
/// Documentation/filesystems of Linux.
bool is_interface(const std::string& type) {
  static const std::set<std::string> types = {"autofs",  "binfmt_misc", "bpf",      "cgroup",  "cgroup2", "configfs",
                                              "debugfs", "devpts",      "efivarfs", "fusectl", "mqueue",  "nsfs",
                                              "proc",    "rpc_pipefs",  "resctrl",  "pstore",  "sysfs",   "securityfs",
                                              "smackfs", "selinuxfs",   "tracefs"};
  return types.contains(type);
}

/// An existing directory and what it lies on.
struct Directory {
  std::string path;  // with links resolved
  std::optional<MountEntry> mount;
};

Directory look_at(const std::string& given) {
  const devio::FileText real = devio::real_path(given);
  struct stat info {};
  if (real.error != 0) refuse(given, errno_text(real.error));
  if (stat(real.text.c_str(), &info) != 0) refuse(given, errno_text(errno));
  if (!S_ISDIR(info.st_mode)) refuse(given, "it is no directory");
  if (access(real.text.c_str(), W_OK | X_OK) != 0) refuse(given, errno_text(errno));
  Directory directory{real.text, std::nullopt};
  const std::vector<MountEntry> table = parse_mountinfo(devio::read_file("/proc/self/mountinfo").text);
  if (const MountEntry* entry = mount_of_path(table, real.text)) directory.mount = *entry;
  if (directory.mount && is_interface(directory.mount->type)) {
    refuse(given, fmt::format("it lies on {}, which holds no files of users", directory.mount->type));
  }
  return directory;
}

/// The folder that the phases work in.
class WorkFolder : public MountedFilesystem {
 public:
  explicit WorkFolder(const std::string& path) : path_(path) {
    if (mkdir(path.c_str(), 0755) != 0) {
      throw RunError("mkdir", fmt::format("{}: {}", printable(path), errno_text(errno)));
    }
    root_ = Descriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!root_) throw RunError("open", fmt::format("{}: {}", printable(path), errno_text(errno)));
  }

  int root_fd() const override { return root_.get(); }
  std::string major_minor() const override {
    struct stat info {};
    if (fstat(root_.get(), &info) != 0 || major(info.st_dev) == 0) return "";
    return fmt::format("{}:{}", major(info.st_dev), minor(info.st_dev));
  }
  void remount() override { throw RunError("remount", "an existing directory cannot be unmounted"); }
  int drop_caches() override { return mongo::drop_caches(); }

  /// Removes the trees of the phases, by what the phase Delete does, and the folder, which must be empty then.
  void remove(const Cell& cell) {
    if (!root_) return;
    const Descriptor here(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
    phases::Counters counters;
    for (int repetition = 1; repetition <= cell.repetitions; ++repetition) {
      for (int process = 1; process <= cell.processes; ++process) {
        phases::Context context;
        context.mount_fd = root_.get();
        context.mount_path = path_;
        context.repetition = repetition;
        context.process = process;
        context.counters = &counters;
        phases::find("delete")->run(context);
      }
    }
    if (fchdir(here.get()) != 0 && chdir("/") != 0) errno = 0;
    root_ = Descriptor();
    if (rmdir(path_.c_str()) == 0) return;
    const std::string what =
        counters.error_kinds > 0
            ? fmt::format(" ({} of {}: {})", phases::operation_name(counters.errors[0].operation),
                          counters.errors[0].first_path, errno_text(counters.errors[0].error_number))
            : "";
    throw RunError("rmdir", fmt::format("{}: {}{}. Look into it, then remove it by hand", printable(path_),
                                        errno_text(errno), what));
  }

 private:
  std::string path_;
  Descriptor root_;
};

class DirectoryRun {
 public:
  DirectoryRun(const Cell& cell, const RunServices& services)
      : cell_(cell), services_(services), record_(start_record(cell)) {}

  RunRecord run() {
    describe();
    try_folder();
    check_results_writable(cell_.results, cell_.log);
    services_.watch.check();
    add_flags_and_warnings(cell_, record_, services_.observer);
    const IdleMachine idle = look_at_idle_machine();
    try {
      for (const phases::TreeParameters& tree : cell_.profile.passes) run_pass(tree, idle);
    } catch (const Interrupted& interrupted) {
      record_.status = Status::interrupted;
      record_.reason = interrupted.what();
    } catch (const RunError& error) {
      record_.status = Status::failed;
      record_.reason = error.what();
    }
    judge_run(record_);
    record_.ended_at = utc_now();
    return record_;
  }

 private:
  void describe() {
    const Directory directory = look_at(cell_.mount_point);
    record_.mount.point = directory.path;
    record_.device.kind = "directory";
    if (!directory.mount) return;
    record_.implementation = directory.mount->type;
    record_.device.resolved = directory.mount->source;
    record_.mount.effective = effective_options(*directory.mount);
  }

  std::string work_path() const {
    return fmt::format("{}/mongo-{}", record_.mount.point == "/" ? "" : record_.mount.point, record_.run_id);
  }

  /// Whether a folder can be made there shows only when one is made.
  void try_folder() const {
    const std::string path = work_path();
    if (mkdir(path.c_str(), 0755) != 0) {
      refuse(record_.mount.point, "no folder can be made in it: " + errno_text(errno));
    }
    rmdir(path.c_str());
  }

  void run_pass(const phases::TreeParameters& tree, const IdleMachine& idle) {
    services_.watch.check();
    PassRecord& pass = record_.passes.emplace_back();
    pass.median_file_size_bytes = tree.median_file_size;
    const std::string directory = record_.mount.point;
    const std::string path = work_path();
    WorkFolder folder(path);
    LeaseStack leases;
    std::unique_ptr<Journal> no_journal;
    RunContext context{cell_, services_, record_, leases, no_journal};
    record_.mount.point = path;
    const auto undo = [&] {
      record_.mount.point = directory;
      folder.remove(cell_);
    };
    try {
      PhaseRunner(context, folder, idle).run(tree, pass);
    } catch (...) {
      undo();
      throw;
    }
    undo();
  }

  const Cell& cell_;
  const RunServices& services_;
  RunRecord record_;
};

}  // namespace

void check_directory(const std::string& path) { look_at(path); }

RunRecord run_in_directory(const Cell& cell, const RunServices& services) { return DirectoryRun(cell, services).run(); }

}  // namespace mongo
