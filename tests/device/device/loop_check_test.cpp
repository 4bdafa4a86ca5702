#include "harness/device/loop_check.h"

#include <fmt/format.h>

#include <cstdlib>

#include "harness/device/signatures.h"
#include "tests/device/device/support.h"

namespace mongo {
namespace {

using namespace testing_support;

class LoopCheck : public testing::Test {
 protected:
  void SetUp() override { SKIP_UNLESS_ROOT_WITH_LOOPS(); }

  static std::string verdict(const DeviceSpec& spec, bool destroy = false) {
    try {
      check_loop_spec(spec, {.root = "/", .destroy = destroy, .keep_paths = {}});
    } catch (const DeviceRefused& error) {
      return std::string("refused: ") + error.what();
    } catch (const RunError& error) {
      return std::string("failed: ") + error.what();
    }
    return "accepted";
  }
  static std::string image_verdict(const std::string& path, bool destroy = false) {
    DeviceSpec spec;
    spec.kind = DeviceSpec::Kind::loop_file;
    spec.given = "loop:" + path;
    spec.path = path;
    return verdict(spec, destroy);
  }
  static std::string size_verdict(DeviceSpec::Kind kind, std::uint64_t size) {
    DeviceSpec spec;
    spec.kind = kind;
    spec.size = ByteSize{size};
    return verdict(spec);
  }
  static void expect_says(const std::string& verdict, const std::string& part) {
    EXPECT_NE(verdict.find(part), std::string::npos) << verdict << "\nshould say: " << part;
  }
  Folder folder;
};

TEST_F(LoopCheck, AnImageIsLookedAtAndLeftAsItIs) {
  const std::string image = sparse_image(folder, "image", 64 * MiB);
  struct stat before {
  }, after{};
  ASSERT_EQ(stat(image.c_str(), &before), 0);
  EXPECT_EQ(image_verdict(image), "accepted");
  EXPECT_EQ(image_verdict(image), "accepted") << "the lock is released";
  ASSERT_EQ(stat(image.c_str(), &after), 0);
  EXPECT_EQ(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
  EXPECT_EQ(before.st_blocks, after.st_blocks);
  EXPECT_EQ(run({"losetup", "-j", image}).out, "");
}

TEST_F(LoopCheck, ItsContentsCountAsOnADevice) {
  SKIP_UNLESS_PROGRAM("mkfs.ext4");
  const std::string image = sparse_image(folder, "image", 64 * MiB);
  write_at(image, 33 * MiB, "text");
  expect_says(image_verdict(image),
              fmt::format("refusing to use loop:{}: it holds data of no known kind (first at byte "
                          "{}). If all of it may be lost, say so with --destroy",
                          image, 33 * MiB));
  EXPECT_EQ(image_verdict(image, true), "accepted");
  run({"mkfs.ext4", "-q", "-F", image});
  expect_says(image_verdict(image), "ext4 file system, UUID");
  expect_says(image_verdict(image), "--destroy");
  EXPECT_EQ(image_verdict(image, true), "accepted");
  run({"mkfs.ext4", "-q", "-F", "-L", "mongo", "-U", make_uuid(), image});
  EXPECT_EQ(image_verdict(image), "accepted");
}

TEST_F(LoopCheck, WrongAndUsedImagesAreRefusedAsByARun) {
  SKIP_UNLESS_PROGRAM("losetup");
  const std::string image = sparse_image(folder, "image", MiB);
  expect_says(image_verdict(folder / "missing"),
              "refused: refusing to use loop:" + folder / "missing" + ": it does not");
  expect_says(image_verdict(folder.path()), "is a directory");
  expect_says(image_verdict(sparse_image(folder, "short", 100)), "100 bytes");
  {
    const ForeignLoop foreign(image);
    expect_says(image_verdict(image, true), "refused: refusing to use loop:" + image + ": it is attached to");
  }
  {
    Child other([&] { attach_image(image).release(); });
    ASSERT_TRUE(other.ready());
    expect_says(image_verdict(image, true), fmt::format("locked by pid {}", other.pid()));
  }
  EXPECT_TRUE(eventually([&] { return image_verdict(image) == "accepted"; })) << image_verdict(image);
  Child writer([&] { ASSERT_GE(open(image.c_str(), O_RDWR), 0); });
  expect_says(image_verdict(image, true), fmt::format("open for writing in pid {}", writer.pid()));
}

TEST_F(LoopCheck, SizesHaveToFit) {
  setenv("TMPDIR", folder.path().c_str(), 1);
  EXPECT_EQ(size_verdict(DeviceSpec::Kind::loop_new, MiB), "accepted");
  EXPECT_TRUE(fs::is_empty(folder.path()));
  EXPECT_EQ(size_verdict(DeviceSpec::Kind::ram, MiB), "accepted");
  expect_says(size_verdict(DeviceSpec::Kind::loop_new, 1ull << 60),
              "failed: attach: 1048576 TiB do not fit into " + folder.path());
  expect_says(size_verdict(DeviceSpec::Kind::ram, 1ull << 60), "failed: attach: 1048576 TiB do not fit into memory");
  setenv("TMPDIR", (folder / "missing").c_str(), 1);
  expect_says(size_verdict(DeviceSpec::Kind::loop_new, MiB), "ENOENT");
  unsetenv("TMPDIR");
}

TEST_F(LoopCheck, ADevWithoutLoopDevicesIsTold) {
  Child child([&] {
    enter_private_mount_namespace();
    run({"mount", "-t", "tmpfs", "-o", "size=64k", "none", "/dev"});
    const std::string text = size_verdict(DeviceSpec::Kind::ram, MiB);
    if (text.find("failed: attach: /dev/loop-control") == std::string::npos) throw std::runtime_error(text);
  });
  EXPECT_TRUE(child.ready());
}

TEST_F(LoopCheck, OfTwoThatWantOneImageAtOnceExactlyOneGetsIt) {
  const std::string image = sparse_image(folder, "image", MiB);
  for (int round = 0; round < 20; ++round) {
    int go[2] = {-1, -1}, told[2] = {-1, -1}, release[2] = {-1, -1};
    ASSERT_EQ(pipe2(go, O_CLOEXEC), 0);
    ASSERT_EQ(pipe2(told, O_CLOEXEC), 0);
    ASSERT_EQ(pipe2(release, O_CLOEXEC), 0);
    pid_t children[2] = {};
    for (pid_t& child : children) {
      child = fork();
      if (child != 0) continue;
      close(go[1]);
      close(release[1]);
      char letter = 'e';
      while (read(go[0], &letter, 1) > 0) {
      }
      std::unique_ptr<LoopDevice> loop;
      try {
        loop = attach_image(image);
        letter = 'a';
      } catch (const DeviceRefused& refused) {
        letter = 'r';
        if (std::string(refused.what()).find("locked by pid") == std::string::npos) dprintf(2, "%s\n", refused.what());
      } catch (const std::exception& error) {
        dprintf(2, "child: %s\n", error.what());
      }
      if (write(told[1], &letter, 1) != 1) _exit(2);
      while (read(release[0], &letter, 1) > 0) {
      }
      if (loop) loop->detach();
      _exit(0);
    }
    close(go[0]);
    close(release[0]);
    close(told[1]);
    close(go[1]);
    std::string answers(2, '\0');
    for (char& answer : answers) EXPECT_EQ(read(told[0], &answer, 1), 1);
    close(release[1]);
    close(told[0]);
    for (const pid_t child : children) waitpid(child, nullptr, 0);
    EXPECT_TRUE(answers == "ar" || answers == "ra") << "round " << round << ": " << answers;
  }
}

}  // namespace
}  // namespace mongo
