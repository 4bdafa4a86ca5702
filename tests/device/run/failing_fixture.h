#pragma once

#include <cstdlib>
#include <memory>
#include <sstream>

#include "tests/device/run/rounds.h"
#include "tests/failing/failing_mount.h"

namespace mongo::test {

/// A small tree on a file system that fails as it is told. All of it is gone afterwards, in good and in bad order.
/// The tree has 39 files, none of them empty: 1 to 3 at its top, 4 to 13 in d0, 14 to 28 in d0/d1, 29 and 30 in d2, 31
/// in d2/d3, 32 and 33 in d2/d3/d4, 34 to 39 in d5. Each is written with one write.
class FailingTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t files = 39;
  static constexpr std::uint64_t bytes = 131644;

  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
#ifndef MONGO_FAILING_FS
    GTEST_SKIP() << "libfuse3 is missing";
#endif
    if (access("/dev/fuse", R_OK | W_OK) != 0) GTEST_SKIP() << "needs /dev/fuse";
    if (!leave_mount_namespace()) GTEST_SKIP() << "needs a mount namespace of its own";
    char name[] = "/tmp/mongo-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    rounds_.tree = {60'000, 900, 6000, 2, 4, 2, 4};
    rounds_.write_buffer_size = 65536;
  }

  void TearDown() override {
    rounds_.leave();
    mount_.reset();
    if (folder_.empty()) return;
    EXPECT_TRUE(children_of(getpid()).empty()) << "a process was left";
    EXPECT_EQ(rmdir(folder_.c_str()), 0) << "a mount was left";
  }

  void mount([[maybe_unused]] const std::vector<std::string>& words = {}) {
#ifdef MONGO_FAILING_FS
    mount_ = std::make_unique<FailingMount>(MONGO_FAILING_FS, folder_, words);
#endif
    rounds_.enter(folder_);
  }

  /// Runs phases that are to succeed.
  void run_well(const std::string& phases) {
    std::istringstream names(phases);
    for (std::string name; names >> name;) {
      const PhaseRecord record = rounds_.run(name.c_str());
      EXPECT_EQ(record.status, Status::ok) << name << ": " << record.reason;
      EXPECT_TRUE(record.errors.empty()) << errors_text(record);
    }
  }

  /// Only the server is left of the processes.
  void expect_no_worker_left() const {
    EXPECT_EQ(children_of(getpid()), std::vector<pid_t>{mount_->server()}) << "a process was left";
  }

  std::string folder_;
  std::unique_ptr<FailingMount> mount_;
  Rounds rounds_;
};

}  // namespace mongo::test
