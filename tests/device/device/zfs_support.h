#pragma once

#include "fsdrivers/catalogue.h"
#include "harness/device/pool.h"
#include "harness/device/processes.h"
#include "harness/device/signatures.h"
#include "harness/device/zfs.h"
#include "harness/device/zfs_daemon.h"
#include "tests/device/device/support.h"

// What the tests with real ZFS pools share. They are made in mount namespaces of their own, as by a run.

namespace mongo::testing_support {

/// Does the work in a child with a private mount namespace. Whether nothing in it failed.
inline bool in_namespace(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    bool good = true;
    try {
      enter_private_mount_namespace();
      work();
    } catch (const std::exception& error) {
      std::printf("in the namespace: %s\n", error.what());
      good = false;
    }
    std::fflush(nullptr);
    _exit(good && !testing::Test::HasFailure() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

inline PoolPlan plan_for(const std::string& node, const std::string& point, ZfsDaemon& daemon) {
  const fsdrivers::PoolCommands& commands = fsdrivers::find("zfs")->pool.value();
  const fsdrivers::PoolRequest request{commands.name(make_uuid()), node, point, daemon.search_folder(node), {}};
  return {request.pool,
          node,
          point,
          "fuse.zfs",
          commands.create(request),
          commands.destroy(request),
          commands.export_pool(request),
          commands.import_pool(request),
          commands.sync(request),
          commands.properties(request),
          [&daemon] { daemon.restart(); }};
}

/// Everything that zfs-fuse is known to leave on a system.
inline std::string zfs_files() {
  std::string all;
  for (const char* folder : {"/run/zfs", "/run/lock/zfs", "/var/lib/zfs", "/etc/zfs", "/zfs-kstat"}) {
    const devio::Names names = devio::list_names(folder);
    all += std::string(folder) + (names.error == ENOENT ? " missing" : ":");
    for (const std::string& name : names.names) all += " " + name;
    all += "\n";
  }
  return all;
}

inline std::vector<int> zfs_daemons() {
  std::vector<int> found;
  const Processes processes;
  for (const int pid : processes.pids()) {
    // One that has ended and is not waited for yet has no namespace any more.
    const bool lives = devio::read_link(processes.folder(pid) + "/ns/mnt").error == 0;
    if (lives && processes.program(pid) == "zfs-fuse") found.push_back(pid);
  }
  return found;
}

inline void write_files(const std::string& folder, int count, const std::string& text) {
  for (int i = 0; i < count; ++i) {
    const devio::FileDescriptor file(
        open((folder + "/" + std::to_string(i)).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    ASSERT_EQ(write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
}

inline int whole_files(const std::string& folder, const std::string& text) {
  int count = 0;
  for (const std::string& name : devio::list_names(folder).names) {
    count += devio::read_file(folder + "/" + name).text == text ? 1 : 0;
  }
  return count;
}

class ZfsTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_UNLESS_ROOT_WITH_LOOPS();
    RealRunner runner;
    const ZfsImplementation zfs = find_zfs(runner, false);
    if (zfs.kind != ZfsImplementation::Kind::zfs_fuse) GTEST_SKIP() << "needs zfs-fuse: " << zfs.why_not;
    files_before_ = zfs_files();
    daemons_before_ = zfs_daemons();
    fs::create_directories(point());
  }
  void TearDown() override {
    if (files_before_.empty()) return;
    EXPECT_EQ(zfs_files(), files_before_);
    EXPECT_TRUE(eventually([&] { return zfs_daemons() == daemons_before_; })) << "a zfs-fuse was left";
    EXPECT_EQ(devio::read_file("/proc/self/mountinfo").text.find(folder_.path()), std::string::npos);
  }
  std::string point() const { return folder_ / "mnt"; }

  Folder folder_;
  std::string files_before_;
  std::vector<int> daemons_before_;
  RealRunner runner_;
};

}  // namespace mongo::testing_support
