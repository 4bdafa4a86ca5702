// What has no signature is not blank for that.
#include <fmt/format.h>

#include <chrono>
#include <random>

#include "harness/device/guard.h"
#include "harness/device/signatures.h"
#include "tests/device/device/support.h"

namespace mongo {
namespace {

using namespace testing_support;
using Reason = Refusal::Reason;

std::optional<Refusal> check(const std::string& path, bool destroy) {
  const Guard guard({.root = "/", .destroy = destroy, .keep_paths = {}});
  std::optional<Refusal> refusal = guard.check(guard.resolve(path));
  // Whoever looks for a free loop device opens ours for a moment, as the tests beside this one do.
  for (int i = 0; i < 40 && refusal && refusal->reason == Reason::busy; ++i) {
    std::this_thread::sleep_for(milliseconds(50));
    refusal = guard.check(guard.resolve(path));
  }
  return refusal;
}

std::string noise(std::size_t size) {
  std::mt19937 random(7);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  bytes[0] = 'n';
  return bytes;
}

/// A ustar archive of one file. Source: tar(5).
std::string tar() {
  std::string header(512, '\0');
  header.replace(0, 5, "notes");
  header.replace(100, 8, std::string("0000644\0", 8));
  header.replace(124, 12, std::string("00000000005\0", 12));
  header.replace(257, 8, std::string("ustar\00000", 8));
  return header + "hello" + std::string(507 + 1024, '\0');
}

class BlankDevice : public testing::Test {
 protected:
  void SetUp() override { SKIP_UNLESS_ROOT_WITH_LOOPS(); }

  /// Refused for what is at the byte, taken with destroy, and made blank by a wipe.
  static void expect_data(const std::string& node, std::uint64_t byte) {
    const std::string before = ends_of(node);
    const std::optional<Refusal> refusal = check(node, false);
    ASSERT_TRUE(refusal.has_value()) << node << " accepted";
    EXPECT_EQ(static_cast<int>(refusal->reason), static_cast<int>(Reason::signature)) << refusal->text();
    const std::string part = fmt::format("holds data of no known kind (first at byte {})", byte);
    EXPECT_NE(refusal->text().find(part), std::string::npos) << refusal->text() << "\nshould say: " << part;
    EXPECT_NE(refusal->text().find("--destroy"), std::string::npos) << refusal->text();
    EXPECT_TRUE(ends_of(node) == before) << "touched";
    expect_accepted(node, true);
    wipe_signatures(node);
    expect_accepted(node, false);
  }
  static void expect_accepted(const std::string& node, bool destroy) {
    const std::optional<Refusal> refusal = check(node, destroy);
    EXPECT_FALSE(refusal.has_value()) << refusal->text();
  }
  Folder folder;
};

TEST_F(BlankDevice, ArchivesTextAndNoise) {
  const auto loop = attach(16 * MiB);
  const std::pair<std::string, std::uint64_t> cases[] = {{tar(), 0},
                                                         {std::string("QFI\xfb\0\0\0\3", 8), 0},  // qcow2
                                                         {"To do: pay the rent.\n", 512},
                                                         {noise(2 * MiB), 0},
                                                         {noise(4096), 8 * MiB},         // one block in the middle
                                                         {noise(512), 16 * MiB - 512}};  // the last sector
  for (const auto& [bytes, byte] : cases) {
    write_at(loop->node(), static_cast<off_t>(byte), bytes);
    ASSERT_TRUE(read_signatures(loop->node()).empty()) << "no case for this test";
    expect_data(loop->node(), byte);
  }
}

TEST_F(BlankDevice, LargeOnesAreReadInATrice) {
  const auto loop = attach(2048 * MiB);
  const auto begin = std::chrono::steady_clock::now();
  expect_accepted(loop->node(), false);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  write_at(loop->node(), 2048 * MiB - 512, "last");
  expect_data(loop->node(), 2048 * MiB - 512);
  // Somebody's volume, of 1%
  write_at(loop->node(), 777 * MiB, noise(20 * MiB));
  EXPECT_TRUE(check(loop->node(), false).has_value());
}

TEST_F(BlankDevice, OneBlockInALargeSparseImage) {
  SKIP_UNLESS_PROGRAM("losetup");
  const std::string image = sparse_image(folder, "image", 8192 * MiB);
  {
    const ForeignLoop loop(image);
    write_at(loop.node(), 3333 * MiB, noise(4096));
    expect_data(loop.node(), 3333 * MiB);
  }
  write_at(image, 5000 * MiB + 1024, "x");
  const ForeignLoop loop(image, {"--offset", "1048576"});
  expect_data(loop.node(), 4999 * MiB + 1024);
}

TEST_F(BlankDevice, WhatThisToolMadeIsKnownWithoutReading) {
  SKIP_UNLESS_PROGRAM("mkfs.ext4");
  const auto loop = attach(64 * MiB);
  run({"mkfs.ext4", "-q", "-F", "-L", "mongo", "-U", make_uuid(), loop->node()});
  write_at(loop->node(), 40 * MiB, noise(4096));
  expect_accepted(loop->node(), false);
  wipe_signatures(loop->node());
  expect_accepted(loop->node(), false);
}

TEST_F(BlankDevice, WithoutACurrentDirectory) {
  const auto loop = attach(16 * MiB);
  const std::string gone = folder / "gone";
  fs::create_directories(gone);
  Child child([&] {
    fs::current_path(gone);
    if (rmdir(gone.c_str()) != 0 || !devio::real_path(".").text.empty()) throw std::runtime_error("still there");
    const std::optional<Refusal> refusal = check(loop->node(), false);
    if (refusal) throw std::runtime_error(refusal->text());
    if (MountPoint::check(folder / "point").path() != folder / "point") throw std::runtime_error("mount point");
    attach(MiB)->detach();
  });
  EXPECT_TRUE(child.ready());
}

TEST_F(BlankDevice, TheKernelsNameAndTheFileBehind) {
  SKIP_UNLESS_PROGRAM("losetup");
  const ForeignLoop loop(sparse_image(folder, "image", MiB));
  struct stat info {};
  ASSERT_EQ(stat(loop.node().c_str(), &info), 0);
  ASSERT_EQ(mknod((folder / "alias").c_str(), S_IFBLK | 0600, info.st_rdev), 0);
  const BlockDevice device = Guard({}).resolve(folder / "alias");
  EXPECT_EQ(device.given, folder / "alias");
  EXPECT_EQ(device.resolved, loop.node());
  EXPECT_EQ(device.backing, folder / "image");
}

TEST_F(BlankDevice, AMountPointCannotBeMadeOnAReadOnlyFileSystem) {
  enter_private_mount_namespace();
  fs::create_directories(folder / "closed");
  run({"mount", "-t", "tmpfs", "-o", "ro,size=64k", "none", folder / "closed"});
  try {
    MountPoint::check(folder / "closed/new");
    ADD_FAILURE() << "accepted";
  } catch (const DeviceRefused& error) {
    EXPECT_NE(std::string(error.what()).find("EROFS"), std::string::npos) << error.what();
  }
  run({"umount", folder / "closed"});
}

}  // namespace
}  // namespace mongo
