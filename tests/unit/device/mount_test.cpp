#include "harness/device/mount.h"

#include <gtest/gtest.h>
#include <limits.h>
#include <unistd.h>

#include <boost/filesystem.hpp>
#include <fstream>

#include "harness/core/errors.h"

namespace mongo {
namespace {

namespace fs = boost::filesystem;

class MountPointTest : public testing::Test {
 protected:
  MountPointTest() { fs::create_directories(folder); }
  ~MountPointTest() override {
    boost::system::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  std::string refusal(const std::string& path) const {
    try {
      MountPoint::check(path);
    } catch (const DeviceRefused& error) {
      return error.what();
    }
    return "accepted";
  }
  void expect_refused(const std::string& path, const std::string& part) const {
    EXPECT_NE(refusal(path).find(part), std::string::npos) << refusal(path);
  }
  const std::string folder =
      (fs::canonical(fs::temp_directory_path()) / fs::unique_path("mongo-point-%%%%%%%%")).string();
};

TEST_F(MountPointTest, WrongOnesHaveTheirOwnReasons) {
  std::ofstream(folder + "/file") << "x";
  fs::create_directories(folder + "/full/keep");
  fs::create_symlink("nowhere", folder + "/dangling");
  expect_refused("", "empty");
  expect_refused("/", "root directory");
  expect_refused("/proc", "carries a mount");
  expect_refused("/proc/", "carries a mount");
  expect_refused(folder + "/file", "is a file");
  expect_refused(folder + "/file/below", "below a file");
  expect_refused(folder + "/full", "'keep'");
  expect_refused(folder + "/no/parent", folder + "/no");
  expect_refused(folder + "/dangling", "leads nowhere");
  expect_refused(folder + "/" + std::string(256, 'a'), "too long");
  expect_refused(folder + "/" + std::string(PATH_MAX, 'a'), "4095");
  expect_refused(folder + "/missing/..", "does");
  EXPECT_TRUE(fs::exists(folder + "/full/keep"));
  EXPECT_FALSE(fs::exists(folder + "/no"));
}

TEST_F(MountPointTest, AMissingOneThatCannotBeMadeIsRefused) {
  expect_refused("/sys/new", "cannot be made in /sys");
  expect_refused("/proc/sys/new", "cannot be made in /proc/sys");
  if (geteuid() == 0) return;  // root writes everywhere; tests/device has a read-only file system
  fs::create_directory(folder + "/closed");
  fs::permissions(folder + "/closed", fs::owner_read | fs::owner_exe);
  expect_refused(folder + "/closed/new", "EACCES");
}

TEST_F(MountPointTest, AnEmptyDirectoryIsTakenAndStays) {
  const std::string path = folder + "/a b\tc\\d\xc3\xa9\ne";
  fs::create_directory(path);
  MountPoint point = MountPoint::check(path);
  EXPECT_EQ(point.path(), path);
  EXPECT_FALSE(point.missing());
  point.make();
  EXPECT_EQ(point.remove(), "");
  EXPECT_TRUE(fs::is_directory(path));
}

TEST_F(MountPointTest, AMissingOneIsMadeAndRemoved) {
  MountPoint point = MountPoint::check(folder + "/new///");
  EXPECT_EQ(point.path(), folder + "/new");
  EXPECT_TRUE(point.missing());
  EXPECT_FALSE(fs::exists(folder + "/new")) << "check only looks";
  point.make();
  EXPECT_TRUE(fs::is_directory(folder + "/new"));
  std::ofstream(folder + "/new/file") << "x";
  EXPECT_NE(point.remove().find("ENOTEMPTY"), std::string::npos);
  EXPECT_TRUE(fs::exists(folder + "/new/file"));
  fs::remove(folder + "/new/file");
  EXPECT_EQ(point.remove(), "");
  EXPECT_FALSE(fs::exists(folder + "/new"));
  EXPECT_EQ(point.remove(), "") << "idempotent";
}

TEST_F(MountPointTest, OneThatAppearsMeanwhileIsNotRemoved) {
  MountPoint point = MountPoint::check(folder + "/new");
  fs::create_directory(folder + "/new");
  EXPECT_THROW(point.make(), RunError);
  EXPECT_EQ(point.remove(), "");
  EXPECT_TRUE(fs::exists(folder + "/new"));
}

TEST_F(MountPointTest, LinksAreResolvedAndRelativeNamesCompleted) {
  fs::create_directory(folder + "/real");
  fs::create_symlink("real", folder + "/link");
  EXPECT_EQ(MountPoint::check(folder + "/link").path(), folder + "/real");
  EXPECT_EQ(MountPoint::check(folder + "/link/new").path(), folder + "/real/new");
  const fs::path before = fs::current_path();
  fs::current_path(folder);
  EXPECT_EQ(MountPoint::check("real").path(), folder + "/real");
  EXPECT_EQ(MountPoint::check("new").path(), folder + "/new");
  fs::current_path(before);
}

TEST(Unmount, WhatIsNotMountedNeedsNothing) {
  EXPECT_NO_THROW(unmount_filesystem("/nonexistent/point", std::chrono::milliseconds(0)));
}

TEST(Mount, ARegularFileIsNeverMounted) {
  // libmount would make a loop device for it
  EXPECT_THROW(mount_filesystem({"/etc/passwd", "ext4", "", "/nonexistent"}), RunError);
}

}  // namespace
}  // namespace mongo
