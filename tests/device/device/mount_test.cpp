#include "harness/device/mount.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/mount.h>

#include "tests/device/device/support.h"

namespace mongo {
namespace {

using namespace testing_support;

std::string mount_error(const MountRequest& request) {
  try {
    mount_filesystem(request);
  } catch (const RunError& error) {
    return error.what();
  }
  return "mounted";
}

class MountDevice : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_UNLESS_ROOT_WITH_LOOPS();
    enter_private_mount_namespace();
    loop = attach(320 * MiB);
    fs::create_directories(point);
  }
  // A mount that failed has left nothing behind.
  void expect_nothing_mounted() const {
    EXPECT_TRUE(fs::is_empty(point));
    EXPECT_EQ(devio::read_file("/proc/self/mountinfo").text.find(point), std::string::npos);
  }
  Folder folder;
  const std::string point = folder / "point";
  std::unique_ptr<LoopDevice> loop;
};

TEST_F(MountDevice, TypesAndEffectiveOptions) {
  for (const std::string type : {"ext2", "ext3", "ext4", "xfs", "btrfs"}) {
    if (find_program("mkfs." + type).empty()) continue;
    run({"mkfs." + type, type.starts_with("ext") ? "-F" : "-f", "-q", loop->node()});
    const std::string effective = mount_filesystem({loop->node(), type, "noatime", point});
    EXPECT_TRUE(effective.starts_with("rw,")) << effective;
    EXPECT_NE(effective.find("noatime"), std::string::npos) << effective;
    EXPECT_NE(devio::read_file("/proc/self/mountinfo")
                  .text.find(fmt::format("{} rw,noatime - {} {} ", point, type, loop->node())),
              std::string::npos)
        << devio::read_file("/proc/self/mountinfo").text;
    unmount_filesystem(point, std::chrono::seconds(5));
    expect_nothing_mounted();
    unmount_filesystem(point, std::chrono::seconds(5));
  }
}

TEST_F(MountDevice, RequestedAndEffectiveOptionsDiffer) {
  SKIP_UNLESS_PROGRAM("mkfs.ext3");
  run({"mkfs.ext3", "-q", loop->node()});
  const Mounted mounted(loop->node(), "ext3", point, "barrier=0");
  EXPECT_NE(mounted.effective.find("nobarrier"), std::string::npos) << mounted.effective;
  EXPECT_NE(mounted.effective.find("relatime"), std::string::npos) << mounted.effective;
}

TEST_F(MountDevice, UnknownOptionNamesItAndWhatTheKernelSays) {
  SKIP_UNLESS_PROGRAM("mkfs.ext3");
  run({"mkfs.ext3", "-q", loop->node()});
  const std::string error = mount_error({loop->node(), "ext3", "noatime,bogus=1", point});
  EXPECT_TRUE(error.starts_with("mount: ")) << error;
  EXPECT_NE(error.find("noatime,bogus=1"), std::string::npos) << error;
  EXPECT_NE(error.find("EINVAL"), std::string::npos) << error;
  if (access("/dev/kmsg", R_OK) == 0) {
    EXPECT_NE(error.find("The kernel says: "), std::string::npos) << error;
  }
  expect_nothing_mounted();
}

TEST_F(MountDevice, WrongTypeAndUnknownType) {
  SKIP_UNLESS_PROGRAM("mkfs.ext4");
  run({"mkfs.ext4", "-q", loop->node()});
  EXPECT_NE(mount_error({loop->node(), "xfs", "", point}).find("EINVAL"), std::string::npos);
  EXPECT_NE(mount_error({loop->node(), "reiser99", "", point}).find("ENODEV"), std::string::npos);
  // ext2 cannot take a journal with 64-bit features; whatever the kernel does, "auto" is never accepted as the type
  EXPECT_NE(mount_error({loop->node(), "auto", "", point}), "mounted");
  expect_nothing_mounted();
}

TEST_F(MountDevice, AReadOnlyDeviceIsNotMountedReadOnly) {
  SKIP_UNLESS_PROGRAM("mkfs.ext4");
  SKIP_UNLESS_PROGRAM("losetup");
  for (const char* type : {"ext4", "xfs", "btrfs"}) {
    if (find_program(std::string("mkfs.") + type).empty()) continue;
    const std::string image = sparse_image(folder, type, 320 * MiB);
    run({std::string("mkfs.") + type, "-q", image});
    const ForeignLoop read_only(image, {"--read-only"});
    EXPECT_NE(mount_error({read_only.node(), type, "", point}), "mounted") << type;
    expect_nothing_mounted();
  }
}

TEST_F(MountDevice, AMountThatTurnsOutReadOnlyIsUndone) {
  SKIP_UNLESS_PROGRAM("mkfs.ext4");
  run({"mkfs.ext4", "-q", loop->node()});
  // Not through check_mount_options, as if the kernel had done it by itself.
  const std::string error = mount_error({loop->node(), "ext4", "ro", point});
  EXPECT_NE(error.find("read-only"), std::string::npos) << error;
  expect_nothing_mounted();
}

TEST_F(MountDevice, MountPointsWithAnyCharacter) {
  SKIP_UNLESS_PROGRAM("mkfs.ext4");
  run({"mkfs.ext4", "-q", loop->node()});
  for (const char* name : {"with blank", "tab\tin it", "back\\slash", "\\040", "h\xc3\xa4\xc3\x9flich \xe2\x82\xac",
                           "new\nline", "#hash", "comma,quote\"'", "-o"}) {
    MountPoint mount_point = MountPoint::check(folder / name);
    mount_point.make();
    {
      const Mounted mounted(loop->node(), "ext4", mount_point.path());
      EXPECT_TRUE(fs::exists(folder / name + "/lost+found")) << name;
      try {
        MountPoint::check(folder / name);
        ADD_FAILURE() << name;
      } catch (const DeviceRefused& error) {
        EXPECT_NE(std::string(error.what()).find("carries a mount already: " + loop->node()), std::string::npos);
      }
    }
    EXPECT_EQ(mount_point.remove(), "");
  }
}

TEST_F(MountDevice, ABusyUnmountNamesTheHolder) {
  SKIP_UNLESS_PROGRAM("mkfs.ext4");
  run({"mkfs.ext4", "-q", loop->node()});
  const auto busy = [&](const std::function<void()>& hold, const std::string& how) {
    mount_filesystem({loop->node(), "ext4", "", point});
    {
      Child holder(hold);
      ASSERT_TRUE(holder.ready()) << how;
      try {
        unmount_filesystem(point, milliseconds(100));
        ADD_FAILURE() << "unmounted although held by " << how;
      } catch (const RunError& error) {
        EXPECT_NE(std::string(error.what()).find(fmt::format("pid {} (", holder.pid())), std::string::npos)
            << error.what();
        EXPECT_NE(std::string(error.what()).find(how), std::string::npos) << error.what();
      }
      EXPECT_TRUE(fs::exists(point + "/lost+found")) << "still mounted";
    }
    EXPECT_NO_THROW(unmount_filesystem(point, std::chrono::seconds(5)));
    expect_nothing_mounted();
  };
  busy([&] { ASSERT_EQ(chdir(point.c_str()), 0); }, "working directory");
  busy([&] { ASSERT_GE(open((point + "/file").c_str(), O_RDWR | O_CREAT, 0600), 0); }, "descriptor");
  busy(
      [&] {
        const devio::FileDescriptor file(open((point + "/mapped").c_str(), O_RDWR | O_CREAT, 0600));
        ASSERT_EQ(ftruncate(file.get(), 4096), 0);
        ASSERT_NE(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file.get(), 0), MAP_FAILED);
      },
      "mapped file");
  busy([&] { ASSERT_EQ(chroot(point.c_str()), 0); }, "root directory");
}

TEST_F(MountDevice, AHolderThatEndsInTimeIsWaitedFor) {
  SKIP_UNLESS_PROGRAM("mkfs.ext4");
  run({"mkfs.ext4", "-q", loop->node()});
  mount_filesystem({loop->node(), "ext4", "", point});
  Child holder([&] { ASSERT_EQ(chdir(point.c_str()), 0); }, milliseconds(300));
  EXPECT_NO_THROW(unmount_filesystem(point, std::chrono::seconds(10)));
  expect_nothing_mounted();
}

TEST_F(MountDevice, OtherMountsAndLoopDevicesAreNamedAsHolders) {
  SKIP_UNLESS_PROGRAM("mkfs.ext4");
  SKIP_UNLESS_PROGRAM("losetup");
  run({"mkfs.ext4", "-q", loop->node()});
  const Mounted mounted(loop->node(), "ext4", point);
  const std::string image = point + "/inner.img";
  run({"truncate", "-s", "1M", image});
  const ForeignLoop inner(image);
  try {
    unmount_filesystem(point, milliseconds(0));
    FAIL();
  } catch (const RunError& error) {
    EXPECT_NE(std::string(error.what()).find(inner.node()), std::string::npos) << error.what();
  }
}

TEST_F(MountDevice, ThePrivateNamespaceIsSeenByNobodyElse) {
  SKIP_UNLESS_PROGRAM("mkfs.ext4");
  run({"mkfs.ext4", "-q", loop->node()});
  Child inside([&] {
    enter_private_mount_namespace();
    mount_filesystem({loop->node(), "ext4", "", point});
  });
  ASSERT_TRUE(inside.ready());
  EXPECT_EQ(devio::read_file("/proc/self/mountinfo").text.find(point), std::string::npos);
  const std::string seen_inside = devio::read_file(fmt::format("/proc/{}/mountinfo", inside.pid())).text;
  EXPECT_NE(seen_inside.find(point), std::string::npos);
}

TEST_F(MountDevice, AnUnmountOutsideReachesThePrivateNamespace) {
  SKIP_UNLESS_PROGRAM("mkfs.ext4");
  run({"mkfs.ext4", "-q", loop->node()});
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SHARED, nullptr) != 0) GTEST_SKIP() << "/ is no mount here (a chroot)";
  {
    const Mounted mounted(loop->node(), "ext4", point);
    Child inside([] { enter_private_mount_namespace(); });
    ASSERT_TRUE(inside.ready());
    const std::string table = fmt::format("/proc/{}/mountinfo", inside.pid());
    EXPECT_NE(devio::read_file(table).text.find(point), std::string::npos);
    unmount_filesystem(point, std::chrono::seconds(5));
    EXPECT_EQ(devio::read_file(table).text.find(point), std::string::npos);
  }
}

}  // namespace
}  // namespace mongo
