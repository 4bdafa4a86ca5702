// ZFS pools by zfs-fuse on real loop devices.
#include "harness/device/pool.h"

#include <sys/mount.h>
#include <sys/statvfs.h>

#include "harness/device/busy.h"
#include "harness/device/guard.h"
#include "harness/device/processes.h"
#include "tests/device/device/zfs_support.h"

namespace mongo {
namespace {

using namespace testing_support;
using std::chrono::seconds;

class ZfsPool : public ZfsTest {};

TEST_F(ZfsPool, IsMadeUsedAndTakenAwayAndNothingIsLeft) {
  const auto loop = attach(256 * MiB);
  EXPECT_TRUE(in_namespace([&] {
    std::vector<std::string> noted;
    const auto daemon =
        ZfsDaemon::start(runner_, {[&](const std::string& path, dev_t, ino_t) { noted.push_back(path); }, {}});
    for (const std::string& path : noted) EXPECT_TRUE(path.ends_with("/zfs")) << path;
    for (int round = 1; round <= 3; ++round) {
      Pool pool(runner_, plan_for(loop->node(), point(), *daemon));
      EXPECT_NE(pool.create().find("rw"), std::string::npos);
      write_files(point(), 300, std::string(5000, 'x'));
      struct statvfs space {};
      ASSERT_EQ(statvfs(point().c_str(), &space), 0);
      EXPECT_GT(space.f_blocks * space.f_frsize, 200 * MiB);
      EXPECT_LT(space.f_bavail, space.f_blocks);
      const auto properties = pool.properties();
      EXPECT_EQ(properties.size(), 9U);
      EXPECT_EQ(properties.at(0), (std::pair<std::string, std::string>{"compression", "off"}));
      EXPECT_EQ(properties.at(1), (std::pair<std::string, std::string>{"recordsize", "128K"}));
      EXPECT_TRUE(carries_pool_label(loop->node(), pool.plan().name));
      EXPECT_TRUE(made_by_this_tool(read_signatures(loop->node())));
      pool.destroy(seconds(10));
      EXPECT_TRUE(read_signatures(loop->node()).empty());
      EXPECT_FALSE(carries_pool_label(loop->node(), pool.plan().name));
      EXPECT_FALSE(pool_is_imported(runner_, pool.plan().name));
      EXPECT_TRUE(devio::list_names(point()).names.empty());
      EXPECT_EQ(devio::read_file("/proc/self/mountinfo").text.find(point()), std::string::npos);
      pool.destroy(seconds(10));  // does nothing
      // What the next format asks.
      const Guard guard(GuardOptions{});
      const auto refusal = guard.check(guard.resolve(loop->node()));
      EXPECT_FALSE(refusal) << refusal->text();
    }
    EXPECT_TRUE(daemon->runs());
    daemon->stop();
    daemon->stop();
  }));
}

TEST_F(ZfsPool, ExportAndImportLookAtNoOtherDevice) {
  const auto loop = attach(256 * MiB), other = attach(128 * MiB);
  EXPECT_TRUE(in_namespace([&] {
    const auto daemon = ZfsDaemon::start(runner_, {});
    // Somebody else's pool, exported: an import that looks around would see it.
    run({"zpool", "create", "-f", "-o", "cachefile=none", "-m", folder_ / "other", "tank", other->node()});
    ASSERT_TRUE(eventually([&] { return runner_.run({{"zpool", "export", "tank"}, seconds(30)}).ok(); }));
    const std::string before = ends_of(other->node());
    Pool pool(runner_, plan_for(loop->node(), point(), *daemon));
    pool.create();
    write_files(point(), 300, "text");
    for (int round = 1; round <= 3; ++round) {
      pool.export_pool(seconds(10));
      EXPECT_EQ(devio::read_file("/proc/self/mountinfo").text.find(point()), std::string::npos);
      EXPECT_NO_THROW(wait_until_free(loop->node(), seconds(5)));
      EXPECT_NE(pool.import_pool().find("rw"), std::string::npos);
      EXPECT_EQ(whole_files(point(), "text"), 300);
    }
    EXPECT_EQ(ends_of(other->node()), before);
    EXPECT_EQ(devio::trimmed(run({"zpool", "list", "-H", "-o", "name"}).out), pool.plan().name);
    pool.destroy(seconds(10));
    daemon->stop();
  }));
  wipe_signatures(other->node());
}

TEST_F(ZfsPool, AnExportedPoolIsWipedToo) {
  const auto loop = attach(128 * MiB);
  EXPECT_TRUE(in_namespace([&] {
    const auto daemon = ZfsDaemon::start(runner_, {});
    Pool pool(runner_, plan_for(loop->node(), point(), *daemon));
    pool.create();
    pool.export_pool(seconds(10));
    pool.destroy(seconds(10));
    EXPECT_TRUE(read_signatures(loop->node()).empty());
    daemon->stop();
  }));
}

/// Everything that was written before sync() is there after the daemon was killed; without it, it need not be.
TEST_F(ZfsPool, SyncMakesDurable) {
  const auto loop = attach(256 * MiB);
  const std::string text(9000, 'd');
  EXPECT_TRUE(in_namespace([&] {
    PoolPlan plan;
    {
      const auto daemon = ZfsDaemon::start(runner_, {});
      plan = plan_for(loop->node(), point(), *daemon);
      Pool pool(runner_, plan);
      pool.create();
      write_files(point(), 1000, text);
      pool.sync();
      kill(daemon->pid(), SIGKILL);
      ASSERT_TRUE(eventually([&] { return !daemon->runs(); }));
      unmount_filesystem(point(), seconds(5));
      daemon->stop();
    }
    const auto daemon = ZfsDaemon::start(runner_, {});
    daemon->search_folder(loop->node());
    // It was not exported, and a host without /etc/hostid need not have the same number again.
    plan.import_pool.insert(plan.import_pool.begin() + 2, "-f");
    Pool pool(runner_, plan);
    pool.import_pool();
    EXPECT_EQ(whole_files(point(), text), 1000);
    pool.destroy(seconds(10));
    daemon->stop();
  }));
}

TEST_F(ZfsPool, WhatAKilledDaemonLeftIsTakenAway) {
  const auto loop = attach(128 * MiB);
  EXPECT_TRUE(in_namespace([&] {
    const auto daemon = ZfsDaemon::start(runner_, {});
    Pool pool(runner_, plan_for(loop->node(), point(), *daemon));
    pool.create();
    write_files(point(), 100, "text");
    kill(daemon->pid(), SIGKILL);
    ASSERT_TRUE(eventually([&] { return !daemon->runs(); }));
    EXPECT_NE(devio::list_names(point()).error, 0) << "the mount is dead";
    EXPECT_THROW(pool.sync(), RunError);
    pool.destroy(seconds(10));
    EXPECT_EQ(devio::list_names(point()).error, 0);
    EXPECT_TRUE(read_signatures(loop->node()).empty());
    daemon->stop();
  }));
}

TEST_F(ZfsPool, ABusyMountIsReportedWithItsHolderAndStays) {
  const auto loop = attach(128 * MiB);
  EXPECT_TRUE(in_namespace([&] {
    const auto daemon = ZfsDaemon::start(runner_, {});
    Pool pool(runner_, plan_for(loop->node(), point(), *daemon));
    pool.create();
    {
      Child holder([&] { ASSERT_EQ(chdir(point().c_str()), 0); });
      ASSERT_TRUE(holder.ready());
      for (const bool exporting : {true, false}) {
        try {
          exporting ? pool.export_pool(milliseconds(200)) : pool.destroy(milliseconds(200));
          ADD_FAILURE() << "not busy";
        } catch (const RunError& error) {
          EXPECT_EQ(error.step(), "unmount");
          EXPECT_NE(std::string(error.what()).find(std::to_string(holder.pid())), std::string::npos) << error.what();
        }
        EXPECT_NE(devio::read_file("/proc/self/mountinfo").text.find(point()), std::string::npos);
      }
    }
    pool.destroy(seconds(10));
    daemon->stop();
  }));
}

/// The kernel tells zfs-fuse of a close without waiting; an unmount must not come before that has been read.
TEST_F(ZfsPool, IsTakenAwayRightAfterManyFilesWereClosed) {
  const auto loop = attach(128 * MiB);
  EXPECT_TRUE(in_namespace([&] {
    const auto daemon = ZfsDaemon::start(runner_, {});
    const pid_t pid = daemon->pid();
    for (int round = 1; round <= 10; ++round) {
      Pool pool(runner_, plan_for(loop->node(), point(), *daemon));
      pool.create();
      std::vector<devio::FileDescriptor> files;
      for (int i = 0; i < 500; ++i) {
        files.emplace_back(open((point() + "/" + std::to_string(i)).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
      }
      files.clear();
      round % 2 == 0 ? pool.export_pool(seconds(20)) : pool.destroy(seconds(20));
      if (round % 2 == 0) pool.destroy(seconds(20));
    }
    EXPECT_EQ(daemon->pid(), pid) << "it had to be started again";
    daemon->stop();
  }));
}

/// As zfs-fuse is after an unmount that it was not told all of.
TEST_F(ZfsPool, ADaemonThatDoesNotLetGoIsStartedAgain) {
  const auto loop = attach(128 * MiB);
  EXPECT_TRUE(in_namespace([&] {
    const auto daemon = ZfsDaemon::start(runner_, {});
    Pool pool(runner_, plan_for(loop->node(), point(), *daemon));
    pool.create();
    const int held = open((point() + "/held").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    ASSERT_GE(held, 0);
    ASSERT_EQ(umount2(point().c_str(), MNT_DETACH), 0);
    const pid_t before = daemon->pid();
    pool.destroy(milliseconds(300));
    EXPECT_NE(daemon->pid(), before);
    EXPECT_TRUE(daemon->runs());
    EXPECT_TRUE(read_signatures(loop->node()).empty());
    close(held);
    pool.create();
    pool.destroy(seconds(10));
    daemon->stop();
  }));
}

TEST_F(ZfsPool, OneThatCannotBeMadeSaysWhyAndLeavesNothing) {
  const auto loop = attach(32 * MiB);
  EXPECT_TRUE(in_namespace([&] {
    const auto daemon = ZfsDaemon::start(runner_, {});
    Pool pool(runner_, plan_for(loop->node(), point(), *daemon));
    try {
      pool.create();
      ADD_FAILURE() << "made on 32 MiB";
    } catch (const RunError& error) {
      EXPECT_EQ(error.step(), "mkfs");
      EXPECT_NE(std::string(error.what()).find("minimum size"), std::string::npos) << error.what();
    }
    pool.destroy(seconds(10));
    EXPECT_TRUE(read_signatures(loop->node()).empty());
    daemon->stop();
  }));
}

/// Another zfs-fuse of the machine, with a pool and a list of pools: it is neither ended nor asked.
TEST_F(ZfsPool, AForeignDaemonAndItsPoolAreLeftAlone) {
  const auto loop = attach(128 * MiB), other = attach(128 * MiB);
  EXPECT_TRUE(in_namespace([&] {
    // The machine, as it were.
    const auto foreign = ZfsDaemon::start(runner_, {});
    run({"zpool", "create", "-f", "-m", folder_ / "tank", "tank", other->node()});
    write_files(folder_ / "tank", 50, "precious");
    EXPECT_EQ(devio::list_names("/var/lib/zfs").names, std::vector<std::string>{"zpool.cache"});
    EXPECT_TRUE(in_namespace([&] {
      const auto daemon = ZfsDaemon::start(runner_, {});
      EXPECT_NE(daemon->pid(), foreign->pid());
      EXPECT_EQ(run({"zpool", "list", "-H", "-o", "name"}).out, "");
      Pool pool(runner_, plan_for(loop->node(), point(), *daemon));
      pool.create();
      write_files(point(), 100, "text");
      pool.export_pool(seconds(10));
      pool.import_pool();
      EXPECT_EQ(whole_files(folder_ / "tank", "precious"), 50);
      pool.destroy(seconds(10));
      daemon->stop();
    }));
    EXPECT_TRUE(foreign->runs());
    EXPECT_EQ(run({"zpool", "list", "-H", "-o", "name"}).out, "tank\n");
    EXPECT_EQ(whole_files(folder_ / "tank", "precious"), 50);
    EXPECT_FALSE(wipe_pool(other->node(), "mongo-x"));
    ASSERT_TRUE(eventually([&] { return runner_.run({{"zpool", "destroy", "tank"}, seconds(30)}).ok(); }));
    foreign->stop();
  }));
  wipe_signatures(other->node());
}

/// The folders below are made by the first and needed until the last has ended.
TEST_F(ZfsPool, TwoRunsAtOnceDoNotDisturbEachOther) {
  const auto loop = attach(128 * MiB), other = attach(128 * MiB);
  const auto work = [&](const std::string& node, const std::string& where, int rounds) {
    const auto daemon = ZfsDaemon::start(runner_, {});
    for (int i = 0; i < rounds; ++i) {
      Pool pool(runner_, plan_for(node, where, *daemon));
      pool.create();
      write_files(where, 100, "text");
      EXPECT_EQ(whole_files(where, "text"), 100);
      pool.destroy(seconds(10));
    }
    daemon->stop();
  };
  fs::create_directories(folder_ / "other");
  const pid_t first = fork();
  if (first == 0) _exit(in_namespace([&] { work(loop->node(), point(), 2); }) ? 0 : 1);
  EXPECT_TRUE(in_namespace([&] { work(other->node(), folder_ / "other", 20); }));
  int status = 0;
  waitpid(first, &status, 0);
  EXPECT_EQ(status, 0);
}

/// A child, because this program may have got a namespace of its own by another test.
TEST_F(ZfsPool, NoDaemonOutsideOfAPrivateMountNamespace) {
  const Child child([&] { ZfsDaemon::start(runner_, {}); });
  EXPECT_FALSE(child.ready()) << "it was started";
}

}  // namespace
}  // namespace mongo
