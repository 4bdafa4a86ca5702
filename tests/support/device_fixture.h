#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/filesystem.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "harness/process/runner.h"

namespace mongo::test {

namespace fs = boost::filesystem;

/// Runs a program to its end; for the tests' own tools and for mongo itself.
inline CommandResult run(std::vector<std::string> argv, std::chrono::milliseconds deadline = std::chrono::minutes(5)) {
  RealRunner runner;
  return runner.run({std::move(argv), deadline});
}

/// A test with a folder of its own, real loop devices and mounts. All of it is gone afterwards; a test that leaves a
/// mount or a loop device of its folder fails. Skips itself where there is no root or no loop device.
class DeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    if (access("/dev/loop-control", R_OK | W_OK) != 0) GTEST_SKIP() << "needs /dev/loop-control";
    char name[] = "/var/tmp/mongo-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }

  void TearDown() override {
    if (folder_.empty()) return;
    // Whatever looks at a device or a mount keeps it busy for a moment, and a file behind a loop device keeps its mount
    // busy until the device is let go.
    for (int i = 0; i < 50 && !mounts_.empty(); ++i) {
      for (auto mount = mounts_.rbegin(); mount != mounts_.rend(); ++mount) run({"umount", *mount});
      if (i == 0) detach_all();
      const std::string table = slurp("/proc/self/mountinfo");
      std::erase_if(mounts_, [&](const std::string& m) { return table.find(" " + m + " ") == std::string::npos; });
      if (!mounts_.empty()) usleep(100'000);
    }
    detach_all();
    // A device that is still being flushed after a kill is let go when that is done.
    for (int i = 0; i < 200 && run({"losetup", "-a"}).out.find(folder_) != std::string::npos; ++i) usleep(50'000);
    const std::string mounted = slurp("/proc/self/mountinfo");
    EXPECT_EQ(mounted.find(folder_), std::string::npos) << "a mount was left";
    const std::string loops = run({"losetup", "-a"}).out;
    EXPECT_EQ(loops.find(folder_), std::string::npos) << "a loop device was left: " << loops;
    if (mounted.find(folder_) == std::string::npos) fs::remove_all(folder_);
  }

  void detach_all() {
    for (const std::string& device : devices_) run({"losetup", "-d", device});
    devices_.clear();
  }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  static std::string slurp(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

  /// A sparse file.
  std::string image(const std::string& name, std::uint64_t size) {
    const std::string file = path(name);
    const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    EXPECT_GE(fd, 0);
    EXPECT_EQ(ftruncate(fd, static_cast<off_t>(size)), 0);
    close(fd);
    return file;
  }

  /// A loop device over a sparse file of that size.
  std::string device(std::uint64_t size, std::vector<std::string> options = {}) {
    const std::string file = image("disk" + std::to_string(devices_.size()) + ".img", size);
    std::vector<std::string> argv{"losetup", "--find", "--show"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.push_back(file);
    const CommandResult result = run(argv);
    EXPECT_TRUE(result.ok()) << result.err;
    const std::string node = result.out.substr(0, result.out.find('\n'));
    devices_.push_back(node);
    return node;
  }

  void release(const std::string& node) {
    EXPECT_TRUE(run({"losetup", "-d", node}).ok());
    std::erase(devices_, node);
  }

  void mount(const std::string& node, const std::string& point, std::vector<std::string> options = {}) {
    fs::create_directories(point);
    std::vector<std::string> argv{"mount"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.insert(argv.end(), {node, point});
    const CommandResult result = run(argv);
    ASSERT_TRUE(result.ok()) << result.err;
    mounts_.push_back(point);
  }

  void unmount(const std::string& point) {
    EXPECT_TRUE(run({"umount", point}).ok());
    std::erase(mounts_, point);
  }

  /// The first and the last 4 MiB: equal before and after means untouched.
  static std::string fingerprint(const std::string& node) {
    const int fd = open(node.c_str(), O_RDONLY | O_CLOEXEC);
    EXPECT_GE(fd, 0) << node;
    const off_t size = lseek(fd, 0, SEEK_END);
    const std::size_t part = std::min<std::size_t>(4 << 20, static_cast<std::size_t>(size));
    std::string bytes(2 * part, '\0');
    EXPECT_EQ(pread(fd, bytes.data(), part, 0), static_cast<ssize_t>(part));
    EXPECT_EQ(pread(fd, bytes.data() + part, part, size - static_cast<off_t>(part)), static_cast<ssize_t>(part));
    close(fd);
    return bytes;
  }

  std::string folder_;
  std::vector<std::string> devices_;
  std::vector<std::string> mounts_;
};

inline constexpr std::uint64_t MiB = 1048576;

}  // namespace mongo::test
