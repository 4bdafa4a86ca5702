#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/device/private_folder.h"
#include "harness/process/background.h"
#include "harness/process/runner.h"

namespace mongo {

/// A zfs-fuse of this run's own. Its socket, its lock and its list of pools are in the run's private mount namespace,
/// so that it neither meets another zfs-fuse nor imports anybody's pools, and only programs of this run find it.
class ZfsDaemon {
 public:
  /// For the journal; each may be empty.
  struct Notes {
    PrivateFolder::Note folder;              // before a folder is used
    std::function<void(pid_t pid)> process;  // when the daemon has been started, also again
  };

  /// Starts it and waits until it answers `zpool list`, at most 10 s. Throws RunError with step "zfs-fuse", "exec" or
  /// "private folder"; nothing is left then.
  static std::unique_ptr<ZfsDaemon> start(ProcessRunner& runner, Notes notes);
  ~ZfsDaemon() = default;

  pid_t pid() const { return process_->pid(); }
  bool runs() { return !process_->ended(); }
  /// Kills it, with whatever was not written yet, and starts it anew without any pool. Throws as start() does.
  void restart();
  /// Ends it (about 3 s; killed after 20 s) and takes its folders away. Idempotent. Throws RunError("zfs-fuse", ...).
  void stop();
  /// A folder with nothing but a link to the device, for `zpool import -d`: no other device is looked at. Vanishes with
  /// the daemon. Throws RunError("zfs-fuse", ...).
  std::string search_folder(const std::string& node) const;
  /// The settings in /etc/zfs/zfsrc, which figures depend on: "max-arc-size = 100, zfs-prefetch-disable, ...".
  static std::string settings(const std::string& file = "/etc/zfs/zfsrc");

 private:
  explicit ZfsDaemon(Notes notes) : notes_(std::move(notes)) {}
  void launch(ProcessRunner& runner);
  void end_process(int signal);

  Notes notes_;
  std::vector<std::unique_ptr<PrivateFolder>> folders_;
  std::unique_ptr<BackgroundProcess> process_;
};

}  // namespace mongo
