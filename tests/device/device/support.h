#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/filesystem.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "harness/core/errors.h"
#include "harness/device/loop.h"
#include "harness/device/mount.h"
#include "harness/device/system_files.h"
#include "harness/process/runner.h"

// What the tests with real loop devices share. Every class undoes in its destructor what it did, and nothing else:
// other loop devices and mounts of the machine are not the test's.

#define SKIP_UNLESS_ROOT_WITH_LOOPS()                                                             \
  do {                                                                                            \
    if (geteuid() != 0) GTEST_SKIP() << "needs root";                                             \
    if (access("/dev/loop-control", R_OK | W_OK) != 0) GTEST_SKIP() << "needs /dev/loop-control"; \
  } while (false)

#define SKIP_UNLESS_PROGRAM(name) \
  if (find_program(name).empty()) GTEST_SKIP() << "needs the program " << (name)

namespace mongo::testing_support {

namespace fs = boost::filesystem;
using std::chrono::milliseconds;

inline CommandResult run(const std::vector<std::string>& argv) {
  RealRunner runner;
  return run_checked(runner, {argv, std::chrono::minutes(1)}, "test");
}

class Folder {
 public:
  Folder() : path_((fs::canonical("/var/tmp") / fs::unique_path("mongo-test-%%%%%%%%")).string()) {
    fs::create_directories(path_);
  }
  ~Folder() {
    boost::system::error_code ignored;
    // Only one's own file system: never into something that is still mounted below.
    RealRunner runner;
    runner.run({{"rm", "-rf", "--one-file-system", path_}, std::chrono::minutes(1)});
  }
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline std::string sparse_image(const Folder& folder, const std::string& name, std::uint64_t size) {
  const std::string path = folder / name;
  const devio::FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  EXPECT_EQ(ftruncate(file.get(), static_cast<off_t>(size)), 0);
  return path;
}

inline std::unique_ptr<LoopDevice> attach(std::uint64_t size) {
  DeviceSpec spec;
  spec.kind = DeviceSpec::Kind::ram;
  spec.given = "ram:" + std::to_string(size);
  spec.size = ByteSize{size};
  LoopOptions options;
  options.preallocate = false;  // gigabytes of memory for nothing
  return LoopDevice::attach(spec, {}, options);
}

inline std::unique_ptr<LoopDevice> attach_image(const std::string& path) {
  DeviceSpec spec;
  spec.kind = DeviceSpec::Kind::loop_file;
  spec.given = "loop:" + path;
  spec.path = path;
  LoopOptions options;
  options.preallocate = false;  // gigabytes of memory for nothing
  return LoopDevice::attach(spec, {}, options);
}

/// A loop device made by losetup(8), as somebody else would.
class ForeignLoop {
 public:
  explicit ForeignLoop(const std::string& file, const std::vector<std::string>& options = {}) {
    std::vector<std::string> argv{"losetup", "--find", "--show"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.push_back(file);
    node_ = devio::trimmed(run(argv).out);
  }
  ~ForeignLoop() {
    RealRunner runner;
    if (!node_.empty()) runner.run({{"losetup", "-d", node_}, std::chrono::minutes(1)});
  }
  ForeignLoop(const ForeignLoop&) = delete;
  ForeignLoop& operator=(const ForeignLoop&) = delete;
  const std::string& node() const { return node_; }

 private:
  std::string node_;
};

/// A child that does something, says so, and then waits until it is told to end.
class Child {
 public:
  explicit Child(const std::function<void()>& work, milliseconds lasts = std::chrono::minutes(1)) {
    int ready[2] = {-1, -1};
    EXPECT_EQ(pipe2(ready, O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      int status = 0;
      try {
        work();
      } catch (const std::exception& error) {
        dprintf(2, "child: %s\n", error.what());
        status = 1;
      }
      const char letter = status == 0 ? 'r' : 'f';
      if (write(ready[1], &letter, 1) != 1) _exit(2);
      if (status == 0) usleep(static_cast<useconds_t>(lasts.count() * 1000));
      _exit(status);
    }
    close(ready[1]);
    char letter = 0;
    ready_ = read(ready[0], &letter, 1) == 1 && letter == 'r';
    close(ready[0]);
  }
  ~Child() { end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  bool ready() const { return ready_; }
  pid_t pid() const { return pid_; }
  void end(int signal = SIGKILL) {
    if (pid_ <= 0) return;
    kill(pid_, signal);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  bool ready_ = false;
};

/// A mount that is undone at the end.
class Mounted {
 public:
  Mounted(const std::string& device, const std::string& type, std::string point, const std::string& options = "")
      : point_(std::move(point)) {
    fs::create_directories(point_);
    effective = mount_filesystem({device, type, options, point_});
  }
  ~Mounted() {
    try {
      unmount_filesystem(point_, std::chrono::seconds(5));
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  Mounted(const Mounted&) = delete;
  Mounted& operator=(const Mounted&) = delete;
  std::string effective;

 private:
  std::string point_;
};

/// The first and the last 4 MiB of a device.
inline std::string ends_of(const std::string& node) {
  constexpr std::size_t part = 4 << 20;
  const devio::FileDescriptor device(open(node.c_str(), O_RDONLY | O_CLOEXEC));
  const off_t size = lseek(device.get(), 0, SEEK_END);
  std::string bytes(2 * part, '\0');
  const off_t last = size > static_cast<off_t>(part) ? size - static_cast<off_t>(part) : 0;
  EXPECT_GT(pread(device.get(), bytes.data(), part, 0), 0);
  EXPECT_GT(pread(device.get(), bytes.data() + part, part, last), 0);
  return bytes;
}

inline void write_at(const std::string& node, off_t offset, const std::string& bytes) {
  const devio::FileDescriptor device(open(node.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_EQ(pwrite(device.get(), bytes.data(), bytes.size(), offset), static_cast<ssize_t>(bytes.size()));
  ASSERT_EQ(fsync(device.get()), 0);
}

inline bool eventually(const std::function<bool()>& holds, milliseconds patience = std::chrono::seconds(10)) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return true;
}

inline std::string backing_in_sys(const std::string& node) {
  return devio::trimmed(devio::read_file("/sys/block/" + node.substr(5) + "/loop/backing_file").text);
}

constexpr std::uint64_t MiB = 1 << 20;

}  // namespace mongo::testing_support
