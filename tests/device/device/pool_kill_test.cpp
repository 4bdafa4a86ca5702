// Runs with a ZFS pool that are killed at random moments, and what the clean-up leaves of them: nothing.
#include <random>

#include "harness/core/quote.h"
#include "harness/device/guard.h"
#include "harness/device/journal.h"
#include "tests/device/device/zfs_support.h"

namespace mongo {
namespace {

using namespace testing_support;
using std::chrono::seconds;

class KilledZfsRun : public ZfsTest {
 protected:
  std::string state() const { return folder_ / "state"; }
  std::string where() const { return folder_ / "made"; }

  /// What a run does with a pool, in the order in which it does it.
  void live(const std::string& node, const std::string& run_id) {
    const auto journal = Journal::open(state(), run_id);
    const auto note = [&](const std::string& path, dev_t device, ino_t inode) {
      journal->add({JournalStep::Kind::directory, path, "", device, inode});
    };
    MountPoint made = MountPoint::check(where());
    made.make(run_id, note);
    const auto daemon =
        ZfsDaemon::start(runner_, {note, [&](pid_t pid) { journal->add(process_step(pid, "zfs-fuse")); }});
    const PoolPlan plan = plan_for(node, where(), *daemon);
    journal->add({JournalStep::Kind::pool, plan.name, node, 0, 0});
    Pool pool(runner_, plan);
    pool.create();
    write_files(where(), 500, std::string(3000, 'k'));
    pool.sync();
    write_files(where(), 500, std::string(4000, 'l'));
    pool.export_pool(seconds(10));
    pool.import_pool();
    write_files(where(), 100, std::string(5000, 'm'));
    pool.destroy(seconds(10));
    daemon->stop();
    made.remove();
    journal->finish();
  }

  pid_t start(const std::string& node, int number) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    _exit(in_namespace([&] { live(node, "run-" + std::to_string(number)); }) ? 0 : 1);
  }

  /// The pid of the one child, which is the run itself.
  static pid_t child_of(pid_t pid) {
    const std::string name = "/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children";
    const std::string text = devio::trimmed(devio::read_file(name).text);
    return text.empty() ? 0 : std::stoi(text);
  }
};

TEST_F(KilledZfsRun, LeavesNothingAfterTheCleanUp) {
  const auto loop = attach(128 * MiB);
  const auto begin = std::chrono::steady_clock::now();
  int status = 0;
  ASSERT_EQ(waitpid(start(loop->node(), 0), &status, 0) > 0 ? status : -1, 0) << "the run that nobody disturbs";
  const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
  // The last seconds are the daemon's own end: less often.
  std::mt19937 random(20);
  int undone = 0;
  for (int round = 1; round <= 12; ++round) {
    const long latest = round % 4 == 0 ? whole.count() : std::min(whole.count(), 1'200'000L);
    const auto moment = std::uniform_int_distribution<long>(0, latest)(random);
    const pid_t outer = start(loop->node(), round);
    usleep(static_cast<useconds_t>(moment));
    if (const pid_t run_itself = child_of(outer); run_itself > 0) kill(run_itself, SIGKILL);
    waitpid(outer, &status, 0);
    const CleanupReport report = clean_up(state(), seconds(30));
    const std::string when = "killed after " + std::to_string(moment) + " us";
    for (const std::string& text : report.left) ADD_FAILURE() << text << ", " << when;
    EXPECT_TRUE(report.running.empty()) << when;
    undone += static_cast<int>(report.undone.size());
    for (const std::string& text : report.undone) std::printf("%2d %7ld us: %s\n", round, moment, text.c_str());
    EXPECT_EQ(zfs_files(), files_before_) << when;
    EXPECT_EQ(zfs_daemons(), daemons_before_) << when;
    EXPECT_FALSE(fs::exists(where())) << when;
    EXPECT_FALSE(fs::exists(state())) << when;
    const Guard guard(GuardOptions{});
    const auto refusal = guard.check(guard.resolve(loop->node()));
    EXPECT_FALSE(refusal) << refusal->text() << ", " << when;
  }
  EXPECT_GT(undone, 0) << "no round had anything to undo";
}

TEST_F(KilledZfsRun, TheCleanUpWipesThePoolOfTheJournalAndNoOther) {
  const auto loop = attach(128 * MiB), other = attach(128 * MiB);
  std::string mine, foreign;
  PoolPlan plan;
  // Two runs that were killed: labels on both devices.
  for (const auto& [node, name] : {std::pair{loop->node(), &mine}, {other->node(), &foreign}}) {
    EXPECT_TRUE(in_namespace([&, at = node] {
      const auto daemon = ZfsDaemon::start(runner_, {});
      Pool pool(runner_, plan_for(at, point(), *daemon));
      pool.create();
      pool.sync();
      _exit(0);
    }));
    const std::vector<Signature> found = read_signatures(node);
    ASSERT_EQ(found.size(), 1U);
    *name = found.front().label;
  }
  ASSERT_TRUE(eventually([&] { return zfs_daemons() == daemons_before_; }));
  const std::string before = ends_of(other->node());
  {
    const auto journal = Journal::open(state(), "killed");
    journal->add({JournalStep::Kind::pool, mine, loop->node(), 0, 0});
    journal->add({JournalStep::Kind::pool, mine, other->node(), 0, 0});  // the node means another device by now
    journal->add({JournalStep::Kind::pool, "", other->node(), 0, 0});
  }
  for (int round = 1; round <= 2; ++round) {
    const CleanupReport report = clean_up(state(), seconds(30));
    EXPECT_TRUE(report.left.empty());
    EXPECT_EQ(report.undone.size(), round == 1 ? 1U : 0U);
  }
  EXPECT_TRUE(read_signatures(loop->node()).empty());
  EXPECT_EQ(ends_of(other->node()), before);
  EXPECT_TRUE(wipe_pool(other->node(), foreign));
  EXPECT_FALSE(wipe_pool(other->node(), foreign));
  // What the killed children's folders were mounted on; a real run has them in its journal.
  rmdir("/run/zfs");
  rmdir("/run/lock/zfs");
}

/// Pids and namespaces are given out again: a process is the one of the journal only if all of it fits.
TEST_F(KilledZfsRun, TheCleanUpEndsTheDaemonOfTheJournalAndNoOther) {
  const auto sleeper = [] { return std::make_unique<BackgroundProcess>(std::vector<std::string>{"sleep", "300"}); };
  const auto mine = sleeper(), other = sleeper();
  ASSERT_TRUE(eventually([&] { return Processes().program(other->pid()) == "sleep"; }));
  ASSERT_TRUE(eventually([&] { return Processes().program(mine->pid()) == "sleep"; }));
  {
    const auto journal = Journal::open(state(), "killed");
    journal->add(process_step(mine->pid(), "sleep"));
    journal->add(process_step(other->pid(), "zfs-fuse"));
    JournalStep step = process_step(other->pid(), "sleep");
    step.inode -= 1;  // started at another time
    journal->add(step);
    step.inode = 0;
    journal->add(step);
  }
  const CleanupReport report = clean_up(state(), seconds(10));
  EXPECT_EQ(report.undone.size(), 1U);
  EXPECT_TRUE(report.left.empty()) << "one that nobody has waited for yet has ended";
  EXPECT_TRUE(mine->ended());
  EXPECT_FALSE(other->ended());
}

/// Labels that libblkid does not see any more, as of a create or a wipe that was killed.
TEST_F(KilledZfsRun, AHalfWrittenPoolIsKnownByTheNameInItsLabel) {
  const auto loop = attach(128 * MiB);
  const std::string name = "mongo-" + make_uuid();
  write_at(loop->node(), 128 * static_cast<off_t>(MiB) - 240 * 1024, name);
  EXPECT_TRUE(read_signatures(loop->node()).empty());
  EXPECT_FALSE(carries_pool_label(loop->node(), "mongo-" + make_uuid()));
  EXPECT_TRUE(wipe_pool(loop->node(), name));
  EXPECT_FALSE(carries_pool_label(loop->node(), name));
  // Below another file system it is somebody's data.
  ASSERT_TRUE(RealRunner().run({{"mkfs.ext4", "-F", "-q", loop->node()}, std::chrono::minutes(1)}).ok());
  write_at(loop->node(), 128 * static_cast<off_t>(MiB) - 240 * 1024, name);
  EXPECT_FALSE(wipe_pool(loop->node(), name));
  EXPECT_EQ(read_signatures(loop->node()).size(), 1U);
}

}  // namespace
}  // namespace mongo
