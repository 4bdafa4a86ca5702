#include "tests/device/guest/guest_fixture.h"

namespace mongo::test {
namespace {

struct Type {
  const char* name;
  std::vector<std::string> format;
  unsigned mib;
  const char* fibmap;
};

void PrintTo(const Type& type, std::ostream* out) { *out << type.name; }

class GuestFilesystem : public GuestTest, public ::testing::WithParamInterface<Type> {};

TEST_P(GuestFilesystem, FormattedOnTheHostMountedInTheGuest) {
  const Type& type = GetParam();
  if (find_program(type.format[0]).empty()) GTEST_SKIP() << "needs " << type.format[0];
  if (!guest_supports(type.name)) GTEST_SKIP() << "linux.uml has no " << type.name;
  const std::string node = device(type.mib * MiB);
  std::vector<std::string> format = type.format;
  format.push_back(node);
  const CommandResult formatted = run(format);
  ASSERT_TRUE(formatted.ok()) << formatted.err;
  GuestRequest count = request({"count", type.name, "20"}, node);
  count.filesystem = type.name;
  const GuestResult result = run_guest(count, watch_);
  ASSERT_TRUE(result.ok()) << result.failure << "\n" << result.console;
  EXPECT_EQ(told_.back(), std::string("files 20 fibmap ") + type.fibmap);
}

INSTANTIATE_TEST_SUITE_P(All, GuestFilesystem,
                         ::testing::Values(Type{"reiserfs", {"mkfs.reiserfs", "-q", "-ff"}, 64, "block"},
                                           Type{"jfs", {"mkfs.jfs", "-q"}, 64, "block"},
                                           Type{"f2fs", {"mkfs.f2fs", "-q", "-f"}, 128, "block"},
                                           Type{"nilfs2", {"mkfs.nilfs2", "-q", "-f"}, 256, "EINVAL"},
                                           Type{"ext2", {"mkfs.ext2", "-q"}, 64, "block"},
                                           Type{"ext3", {"mkfs.ext3", "-q"}, 64, "block"},
                                           Type{"ext4", {"mkfs.ext4", "-q"}, 64, "block"},
                                           Type{"xfs", {"mkfs.xfs", "-q"}, 512, "block"},
                                           Type{"btrfs", {"mkfs.btrfs", "-q"}, 256, "EINVAL"}),
                         [](const auto& of) { return std::string(of.param.name); });

TEST_F(GuestTest, WhatTheGuestSupports) {
  for (const char* type : {"ext2", "ext3", "ext4", "xfs", "btrfs", "reiserfs", "jfs"}) {
    EXPECT_TRUE(guest_supports(type)) << type;
  }
  EXPECT_FALSE(guest_supports("zfs"));
  EXPECT_FALSE(guest_supports(""));
}

TEST_F(GuestTest, ADeviceThatHoldsNothing) {
  const GuestResult result = run_probe({"count", "ext4", "1"}, image("disk with: a, name.img", 8 * MiB));
  EXPECT_EQ(result.failure, "mount: Invalid argument (EINVAL)");
}

TEST_F(GuestTest, TwoGuestsOneDevice) {
  const std::string node = device(16 * MiB);
  const pid_t tool = start_tool({"hold"}, node);
  read_until("started");
  EXPECT_EQ(run_probe({"ok"}, node).failure, node + " is in use by another guest");
  kill(tool, SIGTERM);
  EXPECT_EQ(wait_for(tool), 143);
  EXPECT_TRUE(run_probe({"ok"}, node).ok());
}

TEST_F(GuestTest, TwoGuestsSideBySide) {
  const pid_t tool = start_tool({"hang"});
  read_until("started");
  fs::create_directory(path("out2"));
  GuestRequest second = request({"ok"});
  second.folder = path("out2");
  EXPECT_TRUE(run_guest(second, watch_).ok());
  kill(tool, SIGKILL);
  wait_for(tool);
}

}  // namespace
}  // namespace mongo::test
