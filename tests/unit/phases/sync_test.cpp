#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <memory>
#include <string>

#include "phases/catalogue.h"
#include "phases/support/latency.h"
#include "support.h"

namespace mongo::phases {
namespace {

using testing::branchy;
using testing::run_phase;
using testing::Scratch;
using testing::Settings;
using testing::text;

void break_fsync() { testing::break_system_call(SYS_fsync); }

TEST(SyncEach, EachFileOfCreateAndCopyIsSyncedAndMeasured) {
  const Scratch scratch;
  for (const char* name : {"create", "copy"}) {
    for (const bool sync_each : {true, false}) {
      const testing::Outcome outcome = testing::run_in_child([&](Counters& counters) {
        Content content(ContentKind::random, 42, 1, sync_each ? 1 : 2, 4096);
        Counters own;
        auto latencies = std::make_unique<Latencies>();
        Context context;
        context.mount_fd = scratch.fd();
        context.mount_path = scratch.path();
        context.process = sync_each ? 1 : 2;
        context.tree = branchy();
        context.sync_each = sync_each;
        context.content = &content;
        context.counters = &own;
        context.latencies = latencies.get();
        find(name)->run(context);
        counters.files = own.files.load();
        counters.bytes = latencies->of[static_cast<std::size_t>(Operation::fsync)].count;
      });
      EXPECT_EQ(text(outcome), sync_each ? "1173 files, 1173 bytes" : "1173 files, 0 bytes") << name;
    }
  }
}

TEST(SyncEach, AFileWhoseSyncFailedIsNotCounted) {
  const Scratch scratch;
  const Settings settings{.tree = branchy(), .sync_each = true, .prepare = break_fsync};
  EXPECT_EQ(text(run_phase("create", scratch, settings)), "0 files, 5284544 bytes; fsync EIO x1173 testdir1-1-1/1");
  // In which order copy meets the files is up to the file system.
  EXPECT_TRUE(
      text(run_phase("copy", scratch, settings)).starts_with("0 files, 5284544 bytes; fsync EIO x1173 testdir2-1-1/"));
}

TEST(SyncEach, NothingIsSyncedUnlessAskedFor) {
  const Scratch scratch;
  const Settings settings{.tree = branchy(), .prepare = break_fsync};
  for (const char* name : {"create", "copy", "symlink", "read", "stat", "rename", "delete"}) {
    EXPECT_TRUE(run_phase(name, scratch, settings).failures.empty()) << name;
  }
}

TEST(SyncEach, DoesNotConcernPhasesThatChangeDirectoriesOnly) {
  const Scratch scratch;
  run_phase("create", scratch, {.tree = branchy()});
  const Settings settings{.tree = branchy(), .sync_each = true, .prepare = break_fsync};
  for (const char* name : {"symlink", "read", "stat", "rename", "delete"}) {
    EXPECT_TRUE(run_phase(name, scratch, settings).failures.empty()) << name;
  }
}

}  // namespace
}  // namespace mongo::phases
