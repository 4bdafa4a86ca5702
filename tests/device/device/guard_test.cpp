#include "harness/device/guard.h"

#include <fmt/format.h>
#include <sys/sysmacros.h>

#include <chrono>
#include <thread>

#include "harness/device/kernel_view.h"
#include "harness/device/mount_table.h"
#include "tests/device/device/support.h"

namespace mongo {
namespace {

using namespace testing_support;
using Reason = Refusal::Reason;

std::optional<Refusal> check(const std::string& path, bool destroy = true, std::vector<std::string> keep = {}) {
  const Guard guard({.root = "/", .destroy = destroy, .keep_paths = std::move(keep)});
  return guard.check(guard.resolve(path));
}

// Refused for the reason, saying the part, and nothing written.
void expect_refused(const std::string& path, Reason reason, const std::string& part, bool destroy = true,
                    const std::vector<std::string>& keep = {}) {
  const std::string before = ends_of(path);
  const std::optional<Refusal> refusal = check(path, destroy, keep);
  ASSERT_TRUE(refusal.has_value()) << path << " accepted";
  EXPECT_EQ(static_cast<int>(refusal->reason), static_cast<int>(reason)) << refusal->text();
  EXPECT_NE(refusal->text().find(part), std::string::npos) << refusal->text() << "\nshould say: " << part;
  EXPECT_TRUE(ends_of(path) == before) << "touched";
}

void expect_accepted(const std::string& path, bool destroy = true) {
  const std::string before = ends_of(path);
  std::optional<Refusal> refusal = check(path, destroy);
  // Whoever looks for a free loop device opens ours for a moment, as the tests beside this one do.
  for (int i = 0; i < 40 && refusal && refusal->reason == Reason::busy; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    refusal = check(path, destroy);
  }
  EXPECT_FALSE(refusal.has_value()) << refusal->text();
  EXPECT_TRUE(ends_of(path) == before) << "touched";
}

std::string resolve_error(const std::string& path) {
  try {
    Guard({}).resolve(path);
  } catch (const DeviceRefused& error) {
    return error.what();
  }
  return "accepted";
}

class GuardDevice : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_UNLESS_ROOT_WITH_LOOPS();
    enter_private_mount_namespace();
  }
  Folder folder;
};

TEST_F(GuardDevice, BlankDeviceIsAccepted) {
  const auto loop = attach(16 * MiB);
  expect_accepted(loop->node(), false);
  const BlockDevice device = Guard({}).resolve(loop->node());
  EXPECT_EQ(device.size_bytes, 16 * MiB);
  EXPECT_EQ(device.major, 7u);
}

TEST_F(GuardDevice, MountedSeenUnderOtherNames) {
  SKIP_UNLESS_PROGRAM("mkfs.ext4");
  const auto loop = attach(32 * MiB);
  run({"mkfs.ext4", "-q", loop->node()});
  const std::string point = folder / "mount point";
  {
    const Mounted mounted(loop->node(), "ext4", point);
    fs::create_symlink(loop->node(), folder / "link1");
    fs::create_symlink(folder / "link1", folder / "link2");
    struct stat info {};
    ASSERT_EQ(stat(loop->node().c_str(), &info), 0);
    ASSERT_EQ(mknod((folder / "alias").c_str(), S_IFBLK | 0600, info.st_rdev), 0);
    expect_refused(loop->node(), Reason::mounted, "is mounted on " + point);
    expect_refused(folder / "link2", Reason::mounted, loop->node() + "): it is mounted on " + point);
    expect_refused(folder / "alias", Reason::mounted, "is mounted on " + point);
    EXPECT_FALSE(fs::is_empty(point)) << "still mounted";
  }
  expect_refused(folder / "link2", Reason::signature, "ext4 file system", false);
  expect_accepted(folder / "link2");
}

TEST_F(GuardDevice, MountedInAnotherMountNamespaceOnly) {
  SKIP_UNLESS_PROGRAM("mkfs.ext4");
  const auto loop = attach(32 * MiB);
  run({"mkfs.ext4", "-q", loop->node()});
  const std::string point = folder / "inside";
  fs::create_directories(point);
  Child child([&] {
    enter_private_mount_namespace();
    mount_filesystem({loop->node(), "ext4", "", point});
  });
  ASSERT_TRUE(child.ready());
  expect_refused(loop->node(), Reason::mounted,
                 fmt::format("is mounted on {} in the mount namespace of pid {}", point, child.pid()));
  child.end();
  EXPECT_TRUE(eventually([&] { return !check(loop->node()).has_value(); }));
}

TEST_F(GuardDevice, ActiveSwap) {
  SKIP_UNLESS_PROGRAM("mkswap");
  SKIP_UNLESS_PROGRAM("swapon");
  Folder images;
  const ForeignLoop loop(sparse_image(images, "swap.img", 16 * MiB));
  run({"mkswap", loop.node()});
  RealRunner runner;
  if (!runner.run({{"swapon", loop.node()}}).ok()) GTEST_SKIP() << "the kernel takes no swap here";
  expect_refused(loop.node(), Reason::swap, "in use as swap");
  EXPECT_NE(devio::read_file("/proc/swaps").text.find(loop.node()), std::string::npos) << "still active";
  runner.run({{"swapoff", loop.node()}});
  expect_refused(loop.node(), Reason::signature, "swap", false);
}

TEST_F(GuardDevice, PartitionTableWithNothingMounted) {
  const auto loop = attach(32 * MiB);
  write_at(loop->node(), 446, std::string("\x00\x00\x02\x00\x83\x00\x08\x00\x00\x08\x00\x00\x00\x40\x00\x00", 16));
  write_at(loop->node(), 510, "\x55\xaa");
  expect_refused(loop->node(), Reason::signature, "partition table (dos)", false);
  expect_accepted(loop->node());
}

TEST_F(GuardDevice, FileSystemSignatures) {
  SKIP_UNLESS_PROGRAM("mkfs.xfs");
  SKIP_UNLESS_PROGRAM("mkfs.ext4");
  const auto loop = attach(320 * MiB);
  run({"mkfs.xfs", "-q", "-L", "data", loop->node()});
  expect_refused(loop->node(), Reason::signature, "xfs file system, label \"data\", UUID ", false);
  expect_accepted(loop->node());
  run({"mkfs.ext4", "-q", "-F", "-L", "mongo", loop->node()});
  expect_refused(loop->node(), Reason::signature, "ext4 file system, label \"mongo\"", false);
}

TEST_F(GuardDevice, WhatIsNoBlockDevice) {
  const std::string file = sparse_image(folder, "disk.img", MiB);
  EXPECT_NE(resolve_error(file).find("loop:" + file), std::string::npos);
  EXPECT_NE(resolve_error("/dev/null").find("character device"), std::string::npos);
  EXPECT_NE(resolve_error(folder.path()).find("directory"), std::string::npos);
  EXPECT_NE(resolve_error("/dev/nope").find("does not exist"), std::string::npos);
  EXPECT_NE(resolve_error("").find("empty"), std::string::npos);
}

TEST_F(GuardDevice, LoopDeviceWithoutAFile) {
  std::string node;
  {
    const auto loop = attach(MiB);
    node = loop->node();
  }
  const std::string error = resolve_error(node);
  if (error == "accepted") GTEST_SKIP() << "somebody else uses " << node << " now";
  EXPECT_NE(error.find("0 bytes"), std::string::npos) << error;
}

TEST_F(GuardDevice, ReadOnly) {
  SKIP_UNLESS_PROGRAM("losetup");
  const ForeignLoop loop(sparse_image(folder, "ro.img", 16 * MiB), {"--read-only"});
  expect_refused(loop.node(), Reason::read_only, "is read-only");
}

TEST_F(GuardDevice, TwoLoopDevicesOnOneFile) {
  SKIP_UNLESS_PROGRAM("losetup");
  const std::string image = sparse_image(folder, "shared.img", 16 * MiB);
  fs::create_hard_link(image, folder / "other name.img");
  const ForeignLoop first(image);
  expect_accepted(first.node());
  const ForeignLoop second(folder / "other name.img");
  ASSERT_NE(first.node(), second.node());
  expect_refused(first.node(), Reason::loop_in_use, second.node());
  expect_refused(second.node(), Reason::loop_in_use, first.node());
}

TEST_F(GuardDevice, LoopDeviceOverTheDevice) {
  SKIP_UNLESS_PROGRAM("losetup");
  SKIP_UNLESS_PROGRAM("mkfs.ext4");
  const ForeignLoop below(sparse_image(folder, "below.img", 32 * MiB));
  struct stat info {};
  ASSERT_EQ(stat(below.node().c_str(), &info), 0);
  ASSERT_EQ(mknod((folder / "alias").c_str(), S_IFBLK | 0600, info.st_rdev), 0);
  {
    const ForeignLoop above(folder / "alias");
    expect_refused(below.node(), Reason::loop_in_use, "carries the loop device " + above.node());
    expect_accepted(above.node());
  }
  run({"mkfs.ext4", "-q", below.node()});
  const Mounted mounted(below.node(), "ext4", folder / "point");
  const ForeignLoop above(below.node());
  expect_refused(above.node(), Reason::mounted, "stands on " + below.node().substr(5) + ", which is mounted on");
}

TEST_F(GuardDevice, OpenElsewhere) {
  SKIP_UNLESS_PROGRAM("losetup");
  // Somebody else's: a forked child would have the descriptors of one's own.
  const ForeignLoop loop(sparse_image(folder, "image", 16 * MiB));
  {
    Child child([&] { ASSERT_GE(open(loop.node().c_str(), O_RDONLY | O_EXCL), 0); });
    expect_refused(loop.node(), Reason::busy, fmt::format("pid {}", child.pid()));
  }
  {
    Child child([&] { ASSERT_GE(open(loop.node().c_str(), O_RDWR), 0); });
    expect_refused(loop.node(), Reason::busy, fmt::format("pid {}", child.pid()));
  }
  expect_accepted(loop.node());
}

TEST_F(GuardDevice, SecondDeviceOfAMountedBtrfs) {
  SKIP_UNLESS_PROGRAM("mkfs.btrfs");
  const auto first = attach(128 * MiB), second = attach(128 * MiB);
  run({"mkfs.btrfs", "-q", first->node(), second->node()});
  expect_accepted(second->node());
  {
    const Mounted mounted(first->node(), "btrfs", folder / "point");
    expect_refused(first->node(), Reason::mounted, folder / "point");
    expect_refused(second->node(), Reason::member, "btrfs file system");
  }
  // The kernel knows them until it is told otherwise.
  RealRunner runner;
  runner.run({{"btrfs", "device", "scan", "--forget", first->node()}});
  runner.run({{"btrfs", "device", "scan", "--forget", second->node()}});
}

TEST_F(GuardDevice, TheResults) {
  SKIP_UNLESS_PROGRAM("mkfs.btrfs");
  const auto loop = attach(128 * MiB);
  run({"mkfs.btrfs", "-q", loop->node()});
  {
    const Mounted mounted(loop->node(), "btrfs", folder / "point");
    run({"btrfs", "-q", "subvolume", "create", folder / "point/results"});
    expect_refused(loop->node(), Reason::holds_results, "holds " + (folder / "point/results/new"), true,
                   {folder / "point/results/new"});
  }
}

TEST_F(GuardDevice, TheRunningSystem) {
  struct stat root {};
  ASSERT_EQ(stat("/", &root), 0);
  const std::string link = fmt::format("/sys/dev/block/{}:{}", major(root.st_dev), minor(root.st_dev));
  const std::string node = "/dev/" + fs::path(devio::read_link(link).text).filename().string();
  struct stat info {};
  if (stat(node.c_str(), &info) != 0 || info.st_rdev != root.st_dev) GTEST_SKIP() << "/ lies on no block device";
  const devio::FileDescriptor readable(open(node.c_str(), O_RDONLY | O_CLOEXEC));
  if (!readable.valid()) {
    EXPECT_NE(resolve_error(node).find("cannot be opened"), std::string::npos);
    GTEST_SKIP() << node << " may not be opened here";
  }
  const std::optional<Refusal> refusal = check(node);
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(static_cast<int>(refusal->reason), static_cast<int>(Reason::holds_system)) << refusal->text();
}

}  // namespace
}  // namespace mongo
