#include "harness/device/loop.h"

#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>

#include <cstdlib>
#include <set>

#include "harness/device/busy.h"
#include "tests/device/device/support.h"

namespace mongo {
namespace {

using namespace testing_support;

DeviceSpec new_loop(std::uint64_t size, DeviceSpec::Kind kind = DeviceSpec::Kind::loop_new) {
  DeviceSpec spec;
  spec.kind = kind;
  spec.size = ByteSize{size};
  return spec;
}

template <typename Error>
std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(const std::string& path) {
    const char* now = std::getenv("TMPDIR");
    if (now != nullptr) before_ = now;
    setenv("TMPDIR", path.c_str(), 1);
  }
  ~TemporaryDirectory() { before_.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before_.c_str(), 1); }

 private:
  std::string before_;
};

class LoopTest : public testing::Test {
 protected:
  void SetUp() override { SKIP_UNLESS_ROOT_WITH_LOOPS(); }
  Folder folder;
};

TEST_F(LoopTest, AttachAndDetachLeaveNothing) {
  const TemporaryDirectory temporary(folder.path());
  for (const auto kind : {DeviceSpec::Kind::loop_new, DeviceSpec::Kind::ram}) {
    const auto loop = LoopDevice::attach(new_loop(8 * MiB, kind));
    const std::string node = loop->node(), file = backing_in_sys(node);
    EXPECT_FALSE(file.empty());
    EXPECT_EQ(loop->backing(), kind == DeviceSpec::Kind::ram ? "memory" : "unnamed file in " + folder.path());
    EXPECT_EQ(devio::trimmed(devio::read_file("/sys/block/" + node.substr(5) + "/loop/autoclear").text), "1");
    EXPECT_EQ(devio::trimmed(devio::read_file("/sys/block/" + node.substr(5) + "/size").text), "16384");
    EXPECT_EQ(devio::trimmed(devio::read_file("/sys/block/" + node.substr(5) + "/queue/logical_block_size").text),
              "512");
    write_at(node, 4096, "hello");
    EXPECT_TRUE(fs::is_empty(folder.path())) << "the file has no name";
    loop->detach();
    EXPECT_NE(backing_in_sys(node), file);
    EXPECT_NO_THROW(loop->detach());
  }
}

TEST_F(LoopTest, SpaceIsTakenBeforehandAndGivenBack) {
  const TemporaryDirectory temporary(folder.path());
  const auto free_now = [&] { return fs::space(folder.path()).free; };
  const auto before = free_now();
  auto loop = LoopDevice::attach(new_loop(256 * MiB));
  EXPECT_LT(free_now() + 128 * MiB, before);
  loop->detach();
  EXPECT_TRUE(eventually([&] { return free_now() + 128 * MiB > before; }));
}

TEST_F(LoopTest, WhatDoesNotFitIsRefusedBeforehand) {
  const std::string disk = error_of<RunError>([] { LoopDevice::attach(new_loop(1ull << 60)); });
  EXPECT_NE(disk.find("attach: "), std::string::npos) << disk;
  EXPECT_NE(disk.find("do not fit"), std::string::npos) << disk;
  EXPECT_NE(disk.find("TMPDIR"), std::string::npos) << disk;
  const std::string memory =
      error_of<RunError>([] { LoopDevice::attach(new_loop(1ull << 60, DeviceSpec::Kind::ram)); });
  EXPECT_NE(memory.find("do not fit into memory"), std::string::npos) << memory;
  const TemporaryDirectory temporary(folder / "missing");
  const std::string missing = error_of<RunError>([] { LoopDevice::attach(new_loop(MiB)); });
  EXPECT_NE(missing.find("ENOENT"), std::string::npos) << missing;
}

TEST_F(LoopTest, AFolderInMemoryWorksToo) {
  if (!fs::exists("/dev/shm")) GTEST_SKIP() << "needs /dev/shm";
  const TemporaryDirectory temporary("/dev/shm");
  EXPECT_NO_THROW(LoopDevice::attach(new_loop(MiB)));
}

TEST_F(LoopTest, AnImageIsAttachedAndStays) {
  const std::string image = sparse_image(folder, "disk image.img", 8 * MiB);
  const auto loop = attach_image(image);
  EXPECT_EQ(loop->backing(), image);
  EXPECT_EQ(backing_in_sys(loop->node()), image);
  write_at(loop->node(), 0, "written");
  loop->detach();
  EXPECT_EQ(ends_of(image).substr(0, 7), "written");
  EXPECT_NO_THROW(attach_image(image)->detach());
}

TEST_F(LoopTest, EveryWrongImageHasItsOwnReason) {
  const auto refusal = [](const std::string& path) { return error_of<DeviceRefused>([&] { attach_image(path); }); };
  const auto expect = [&](const std::string& path, const std::string& part) {
    EXPECT_NE(refusal(path).find(part), std::string::npos) << refusal(path);
  };
  expect("", "without a size or path");
  expect(folder / "missing", "does not exist");
  expect(folder.path(), "is a directory");
  expect("/dev/null", "is a character device");
  expect(sparse_image(folder, "short", 511), "511 bytes");
  const auto loop = attach(MiB);
  expect(loop->node(), "is a block device");
  fs::create_symlink(loop->node(), folder / "link");
  expect(folder / "link", "is a block device");
}

TEST_F(LoopTest, AnImageInUseIsRefused) {
  SKIP_UNLESS_PROGRAM("losetup");
  const std::string image = sparse_image(folder, "image", 8 * MiB);
  fs::create_hard_link(image, folder / "other name");
  const auto refusal = [&] { return error_of<DeviceRefused>([&] { attach_image(folder / "other name"); }); };
  {
    Child other([&] { attach_image(image).release(); });
    ASSERT_TRUE(other.ready());
    EXPECT_NE(refusal().find(fmt::format("locked by pid {}", other.pid())), std::string::npos) << refusal();
  }
  EXPECT_TRUE(eventually([&] { return refusal() == "no error"; })) << refusal();
  {
    const ForeignLoop foreign(image);
    EXPECT_NE(refusal().find("attached to " + foreign.node()), std::string::npos) << refusal();
  }
  {
    Child writer([&] { ASSERT_GE(open(image.c_str(), O_RDWR), 0); });
    EXPECT_NE(refusal().find(fmt::format("open for writing in pid {}", writer.pid())), std::string::npos) << refusal();
  }
  EXPECT_EQ(refusal(), "no error");
}

TEST_F(LoopTest, ASwapFileIsRefused) {
  SKIP_UNLESS_PROGRAM("mkswap");
  SKIP_UNLESS_PROGRAM("swapon");
  const std::string image = folder / "swap";
  run({"dd", "if=/dev/zero", "of=" + image, "bs=1M", "count=4", "status=none"});
  run({"chmod", "600", image});
  run({"mkswap", image});
  RealRunner runner;
  if (!runner.run({{"swapon", image}}).ok()) GTEST_SKIP() << "the kernel takes no swap file here";
  const std::string refusal = error_of<DeviceRefused>([&] { attach_image(image); });
  runner.run({{"swapoff", image}});
  // The kernel itself does not let a swap file be opened for writing.
  EXPECT_TRUE(refusal.find("ETXTBSY") != std::string::npos || refusal.find("as swap") != std::string::npos) << refusal;
}

TEST_F(LoopTest, DetachWaitsForAnotherOpener) {
  const auto loop = attach(MiB);
  const std::string file = backing_in_sys(loop->node());
  Child probe([&] { ASSERT_GE(open(loop->node().c_str(), O_RDONLY), 0); }, milliseconds(400));
  // The child has the parent's descriptors too; here only the one that it opened shall count.
  const auto begin = std::chrono::steady_clock::now();
  loop->detach();
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(200));
  EXPECT_NE(backing_in_sys(loop->node()), file);
}

TEST_F(LoopTest, AForkedChildDetachesNothing) {
  const auto loop = attach(MiB);
  const pid_t child = fork();
  if (child == 0) {
    loop->detach();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(backing_in_sys(loop->node()).empty());
  write_at(loop->node(), 0, "still there");
}

TEST_F(LoopTest, NothingIsLeftAfterSigkill) {
  SKIP_UNLESS_PROGRAM("mkfs.ext4");
  int told[2] = {-1, -1};
  ASSERT_EQ(pipe2(told, O_CLOEXEC), 0);
  const std::string point = folder / "point";
  fs::create_directories(point);
  Child run_to_kill([&] {
    enter_private_mount_namespace();
    LoopDevice* loop = attach(32 * MiB).release();
    run({"mkfs.ext4", "-q", loop->node()});
    mount_filesystem({loop->node(), "ext4", "", point});
    ASSERT_EQ(write(told[1], loop->node().c_str(), loop->node().size()), static_cast<ssize_t>(loop->node().size()));
  });
  ASSERT_TRUE(run_to_kill.ready());
  close(told[1]);
  char text[64] = {};
  ASSERT_GT(read(told[0], text, sizeof text - 1), 0);
  close(told[0]);
  const std::string node = text, file = backing_in_sys(node);
  EXPECT_NE(file.find(std::to_string(run_to_kill.pid())), std::string::npos);
  run_to_kill.end(SIGKILL);
  EXPECT_TRUE(eventually([&] { return backing_in_sys(node) != file; })) << node;
  EXPECT_EQ(devio::read_file("/proc/self/mountinfo").text.find(point), std::string::npos);
}

TEST_F(LoopTest, TwentyAtOnceGetTwentyDevices) {
  constexpr int count = 20;
  int told[2] = {-1, -1}, go[2] = {-1, -1};
  ASSERT_EQ(pipe2(told, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(go, O_CLOEXEC), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    int status = 1;
    try {
      close(go[1]);
      char letter = 0;
      while (read(go[0], &letter, 1) > 0) {
      }
      const auto loop = attach(MiB);
      const std::string mark = fmt::format("{:>16}", i);
      devio::FileDescriptor device(open(loop->node().c_str(), O_RDWR | O_CLOEXEC));
      std::string back(16, '\0');
      if (pwrite(device.get(), mark.data(), 16, 0) != 16) throw std::runtime_error("write");
      usleep(300000);
      if (pread(device.get(), back.data(), 16, 0) != 16 || back != mark) throw std::runtime_error("not alone");
      const std::string line = fmt::format("{:<16}", loop->node());
      if (write(told[1], line.data(), 16) != 16) throw std::runtime_error("tell");
      device.reset();
      loop->detach();
      status = 0;
    } catch (const std::exception& error) {
      dprintf(2, "child: %s\n", error.what());
    }
    _exit(status);
  }
  close(go[0]);
  close(go[1]);
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  std::set<std::string> nodes;
  close(told[1]);
  char line[16];
  while (read(told[0], line, sizeof line) == sizeof line) nodes.insert(std::string(line, sizeof line));
  close(told[0]);
  EXPECT_GT(nodes.size(), 1u);
}

TEST_F(LoopTest, ADevWithoutNodesIsExplained) {
  Child child([&] {
    enter_private_mount_namespace();
    if (mount("none", "/dev", "tmpfs", 0, "size=64k") != 0) throw std::runtime_error("tmpfs");
    const std::string without = error_of<RunError>([] { attach(MiB); });
    if (without.find("loop-control") == std::string::npos) throw std::runtime_error(without);
    if (mknod("/dev/loop-control", S_IFCHR | 0600, makedev(10, 237)) != 0) throw std::runtime_error("mknod");
    const std::string nodes = error_of<RunError>([] { attach(MiB); });
    if (nodes.find("mknod /dev/loop") == std::string::npos) throw std::runtime_error(nodes);
  });
  EXPECT_TRUE(child.ready());
}

TEST_F(LoopTest, WaitUntilFree) {
  const auto loop = attach(MiB);
  EXPECT_LT(wait_until_free(loop->node(), std::chrono::seconds(5)), milliseconds(100));
  {
    Child udev([&] { ASSERT_GE(open(loop->node().c_str(), O_RDONLY | O_EXCL), 0); }, milliseconds(300));
    const milliseconds waited = wait_until_free(loop->node(), std::chrono::seconds(5));
    EXPECT_GE(waited, milliseconds(100));
    EXPECT_LT(waited, milliseconds(3000));
  }
  Child holder([&] { ASSERT_GE(open(loop->node().c_str(), O_RDONLY | O_EXCL), 0); });
  const std::string error = error_of<RunError>([&] { wait_until_free(loop->node(), milliseconds(100)); });
  EXPECT_NE(error.find(fmt::format("pid {}", holder.pid())), std::string::npos) << error;
  EXPECT_NE(error_of<RunError>([] { wait_until_free("/dev/nope", milliseconds(0)); }).find("ENOENT"),
            std::string::npos);
}

}  // namespace
}  // namespace mongo
