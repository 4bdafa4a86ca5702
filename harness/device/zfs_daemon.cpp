#include "harness/device/zfs_daemon.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "harness/core/errors.h"
#include "harness/device/system_files.h"

namespace mongo {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds start_patience(10);
// It waits for its own threads, at most 10 s. Source: /etc/init.d/zfs-fuse of the Debian package.
constexpr seconds stop_patience(20);

// Compiled into zfs-fuse 0.7.0: socket, lock, zpool.cache.
constexpr const char* socket_folder = "/var/run/zfs";
constexpr const char* fixed_folders[] = {socket_folder, "/var/lock/zfs", "/var/lib/zfs"};

std::string how_it_ended(int status) {
  return WIFSIGNALED(status) ? fmt::format("by signal {}", WTERMSIG(status))
                             : fmt::format("with exit status {}", WEXITSTATUS(status));
}

}  // namespace

std::unique_ptr<ZfsDaemon> ZfsDaemon::start(ProcessRunner& runner, Notes notes) {
  std::unique_ptr<ZfsDaemon> daemon(new ZfsDaemon(std::move(notes)));
  for (const std::string path : fixed_folders) {
    // /var/run and /var/lock are links.
    const std::size_t slash = path.rfind('/');
    const devio::FileText parent = devio::real_path(path.substr(0, slash));
    if (parent.error != 0) {
      throw RunError("zfs-fuse", fmt::format("{}: {}", path.substr(0, slash), errno_text(parent.error)));
    }
    daemon->folders_.push_back(
        std::make_unique<PrivateFolder>(parent.text + path.substr(slash), daemon->notes_.folder));
  }
  daemon->launch(runner);
  return daemon;
}

void ZfsDaemon::launch(ProcessRunner& runner) {
  // Without its statistics, for which it would make and mount /zfs-kstat.
  process_ =
      std::make_unique<BackgroundProcess>(std::vector<std::string>{"zfs-fuse", "--no-daemon", "--no-kstat-mount"});
  if (notes_.process) notes_.process(pid());
  const Clock::time_point deadline = Clock::now() + start_patience;
  while (true) {
    if (runner.run({{"zpool", "list", "-H", "-o", "name"}, start_patience}).ok()) return;
    const std::optional<int> ended = process_->ended();
    if (!ended && Clock::now() < deadline) {
      std::this_thread::sleep_for(milliseconds(20));
      continue;
    }
    const std::string said = devio::printable(devio::trimmed(process_->output()));
    throw RunError("zfs-fuse", fmt::format("the daemon {}{}{}. Is /dev/fuse there? See also the system's log",
                                           ended ? "ended " + how_it_ended(*ended)
                                                 : fmt::format("did not answer in {} s", start_patience.count()),
                                           said.empty() ? "" : ": ", said));
  }
}

void ZfsDaemon::end_process(int signal) {
  if (process_ && !process_->end(signal, stop_patience)) {
    throw RunError(
        "zfs-fuse",
        fmt::format("pid {} does not end, although it was killed. Look at the kernel's log (dmesg)", process_->pid()));
  }
}

void ZfsDaemon::restart() {
  end_process(SIGKILL);
  RealRunner uninterrupted;
  launch(uninterrupted);
}

void ZfsDaemon::stop() {
  // Status 1 on SIGTERM, whatever happened.
  end_process(SIGTERM);
  while (!folders_.empty()) {
    folders_.back()->remove();
    folders_.pop_back();
  }
}

std::string ZfsDaemon::search_folder(const std::string& node) const {
  std::string folder = fmt::format("{}/search-{}", socket_folder, node.substr(node.rfind('/') + 1));
  const std::string link = folder + "/" + node.substr(node.rfind('/') + 1);
  if ((mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) ||
      (symlink(node.c_str(), link.c_str()) != 0 && errno != EEXIST)) {
    throw RunError("zfs-fuse", fmt::format("{} cannot be made: {}", link, errno_text(errno)));
  }
  return folder;
}

std::string ZfsDaemon::settings(const std::string& file) {
  std::string text;
  for (const std::string& line : devio::lines_of(devio::read_file(file).text)) {
    const std::string words = devio::trimmed(line);
    if (!words.empty() && words[0] != '#') text += (text.empty() ? "" : ", ") + devio::printable(words);
  }
  return text;
}

}  // namespace mongo
