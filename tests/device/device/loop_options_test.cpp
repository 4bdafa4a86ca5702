#include <fmt/format.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>

#include <cstdlib>
#include <cstring>

#include "harness/device/loop.h"
#include "harness/device/loop_check.h"
#include "harness/device/queue.h"
#include "tests/device/device/support.h"

namespace mongo {
namespace {

using namespace testing_support;
using Kind = DeviceSpec::Kind;

DeviceSpec spec_of(Kind kind, std::uint64_t size, const std::string& path = "") {
  DeviceSpec spec;
  spec.kind = kind;
  spec.size = ByteSize{size};
  spec.path = path;
  spec.given = kind == Kind::ram ? fmt::format("ram:{}", size) : fmt::format("loop:{}", size);
  return spec;
}

std::unique_ptr<LoopDevice> attach_with(const DeviceSpec& spec, const LoopOptions& options) {
  return LoopDevice::attach(spec, {}, options);
}

std::string in_sys(const LoopDevice& loop, const std::string& file) {
  return devio::trimmed(devio::read_file("/sys/block/" + loop.node().substr(5) + "/" + file).text);
}

DeviceRecord queue_of(const LoopDevice& loop) {
  DeviceRecord device;
  describe_queue(in_sys(loop, "dev"), device);
  return device;
}

std::string content_of(const std::string& node) {
  std::string bytes;
  std::vector<char> part(4 * MiB);
  const devio::FileDescriptor device(open(node.c_str(), O_RDONLY | O_CLOEXEC));
  for (ssize_t got = 0; (got = read(device.get(), part.data(), part.size())) > 0;) {
    bytes.append(part.data(), static_cast<std::size_t>(got));
  }
  return bytes;
}

void discard_all(const std::string& node, std::uint64_t size) {
  const devio::FileDescriptor device(open(node.c_str(), O_WRONLY | O_CLOEXEC));
  const std::uint64_t range[2] = {0, size};
  ASSERT_EQ(ioctl(device.get(), BLKDISCARD, range), 0) << strerror(errno);
}

std::vector<std::string> mkfs(const std::string& type, const std::string& node) {
  return {"mkfs." + type, "-q", type == "ext4" ? "-F" : "-f", node};
}

/// What of a file is in the page cache, in bytes.
std::size_t cached(const std::string& path, std::size_t size) {
  const devio::FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  void* const map = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  if (map == MAP_FAILED) throw std::runtime_error("mmap");
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages(size / page);
  EXPECT_EQ(mincore(map, size, pages.data()), 0);
  munmap(map, size);
  std::size_t found = 0;
  for (const unsigned char state : pages) found += (state & 1U) * page;
  return found;
}

class LoopOptionsTest : public testing::Test {
 protected:
  void SetUp() override { SKIP_UNLESS_ROOT_WITH_LOOPS(); }
  Folder folder;
};

TEST_F(LoopOptionsTest, SectorSizesShowInSysAndFileSystemsAreMadeOnThem) {
  for (const unsigned size : {512U, 1024U, 2048U, 4096U}) {
    for (const Kind kind : {Kind::loop_new, Kind::ram}) {
      const auto loop = attach_with(spec_of(kind, MiB), {.sector_size = size});
      EXPECT_EQ(in_sys(*loop, "queue/logical_block_size"), std::to_string(size));
      EXPECT_EQ(queue_of(*loop).logical_sector_bytes, size);
      EXPECT_EQ(in_sys(*loop, "size"), "2048") << "in units of 512 bytes";
    }
  }
  for (const std::string type : {"ext4", "xfs"}) {
    if (find_program("mkfs." + type).empty()) continue;
    const auto loop = attach_with(spec_of(Kind::loop_new, 320 * MiB), {.sector_size = 4096});
    run(mkfs(type, loop->node()));
    const Mounted mounted(loop->node(), type, folder / type);
    run({"cp", "/proc/self/exe", folder / type + "/file"});
  }
}

TEST_F(LoopOptionsTest, SizesThatAreNotMadeOfWholeSectorsAreRefused) {
  const LoopOptions large{.sector_size = 4096};
  const std::string image = sparse_image(folder, "image", MiB + 512);
  for (const Kind kind : {Kind::loop_new, Kind::ram}) {
    const DeviceSpec spec = spec_of(kind, MiB + 512);
    EXPECT_THROW(attach_with(spec, large), RunError);
    EXPECT_THROW(check_loop_spec(spec, {}, large), RunError);
    EXPECT_NO_THROW(check_loop_spec(spec, {}));
    EXPECT_NO_THROW(attach_with(spec, {}));
  }
  const DeviceSpec spec = spec_of(Kind::loop_file, 0, image);
  EXPECT_THROW(attach_with(spec, large), DeviceRefused);
  EXPECT_THROW(check_loop_spec(spec, {}, large), DeviceRefused);
  EXPECT_NO_THROW(attach_with(spec, {}));
}

TEST_F(LoopOptionsTest, TheQueueOfALoopDevice) {
  const auto loop = attach_with(spec_of(Kind::loop_new, MiB), {});
  const DeviceRecord device = queue_of(*loop);
  EXPECT_NE(in_sys(*loop, "queue/scheduler").find(device.scheduler), std::string::npos);
  EXPECT_FALSE(device.scheduler.empty());
  EXPECT_TRUE(device.write_cache == "write back" || device.write_cache == "write through") << device.write_cache;
  EXPECT_TRUE(device.rotational.has_value());
  EXPECT_GT(device.queue_depth.value_or(0), 0U);
  EXPECT_GE(device.physical_sector_bytes.value_or(0), 512U);
}

TEST_F(LoopOptionsTest, SparseOnesHaveFewBlocksAndStaySo) {
  for (const Kind kind : {Kind::loop_new, Kind::ram}) {
    const auto loop = attach_with(spec_of(kind, 64 * MiB), {.preallocate = false});
    EXPECT_FALSE(loop->preallocated());
    loop->preallocate_again();
    EXPECT_FALSE(loop->preallocated());
  }
}

TEST_F(LoopOptionsTest, WhatMkfsDiscardedIsFilledAgainWithoutHarm) {
  for (const std::string type : {"ext4", "xfs", "btrfs"}) {
    if (find_program("mkfs." + type).empty()) continue;
    for (const Kind kind : {Kind::loop_new, Kind::ram}) {
      const auto loop = attach_with(spec_of(kind, 320 * MiB), {});
      EXPECT_TRUE(loop->preallocated()) << type;
      run(mkfs(type, loop->node()));
      EXPECT_TRUE(kind != Kind::ram || !loop->preallocated()) << type << ": no case for this test";
      const std::string before = content_of(loop->node());
      EXPECT_EQ(before.size(), 320 * MiB);
      loop->preallocate_again();
      EXPECT_TRUE(loop->preallocated()) << type;
      EXPECT_TRUE(content_of(loop->node()) == before) << type;
      const Mounted mounted(loop->node(), type, folder / fmt::format("{}-{}", type, static_cast<int>(kind)));
    }
  }
}

TEST_F(LoopOptionsTest, AnImageKeepsItsHolesOrItsBlocks) {
  const std::string sparse = sparse_image(folder, "sparse", 16 * MiB), full = sparse_image(folder, "full", 16 * MiB);
  {
    const devio::FileDescriptor file(open(full.c_str(), O_RDWR | O_CLOEXEC));
    if (fallocate(file.get(), 0, 0, 16 * MiB) != 0) GTEST_SKIP() << "no fallocate here";
  }
  const auto of_holes = attach_with(spec_of(Kind::loop_file, 0, sparse), {});
  EXPECT_FALSE(of_holes->preallocated());
  of_holes->preallocate_again();
  EXPECT_FALSE(of_holes->preallocated());
  {
    const auto loop = attach_with(spec_of(Kind::loop_file, 0, full), {});
    EXPECT_TRUE(loop->preallocated());
    discard_all(loop->node(), 16 * MiB);
    EXPECT_FALSE(loop->preallocated());
    loop->preallocate_again();
    EXPECT_TRUE(loop->preallocated());
    loop->detach();
    EXPECT_FALSE(loop->preallocated()) << "of nothing";
  }
  const auto left_alone = attach_with(spec_of(Kind::loop_file, 0, full), {.preallocate = false});
  EXPECT_TRUE(left_alone->preallocated());
  discard_all(left_alone->node(), 16 * MiB);
  left_alone->preallocate_again();
  EXPECT_FALSE(left_alone->preallocated());
}

TEST_F(LoopOptionsTest, AFullDiskBehindIsSaid) {
  Child child([&] {
    enter_private_mount_namespace();
    const std::string disk = folder / "disk";
    fs::create_directories(disk);
    if (mount("none", disk.c_str(), "tmpfs", 0, "size=40m") != 0) throw std::runtime_error("tmpfs");
    setenv("TMPDIR", disk.c_str(), 1);
    const auto loop = attach_with(spec_of(Kind::loop_new, 32 * MiB), {});
    discard_all(loop->node(), 32 * MiB);
    const devio::FileDescriptor other(open((disk + "/other").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (fallocate(other.get(), 0, 0, 20 * MiB) != 0) throw std::runtime_error("no case for this test");
    try {
      loop->preallocate_again();
    } catch (const RunError& error) {
      if (error.step() == "preallocate" && std::string(error.what()).find("ENOSPC") != std::string::npos) return;
      throw;
    }
    throw std::runtime_error("no error");
  });
  EXPECT_TRUE(child.ready());
}

TEST_F(LoopOptionsTest, DirectIoIsWhatTheKernelSays) {
  for (const Kind kind : {Kind::loop_new, Kind::ram}) {
    for (const bool wanted : {true, false}) {
      const auto loop = attach_with(spec_of(kind, MiB), {.direct_io = wanted});
      EXPECT_EQ(loop->direct_io(), in_sys(*loop, "loop/dio") == "1");
      EXPECT_FALSE(loop->direct_io() && (!wanted || kind == Kind::ram));
      loop->detach();
      EXPECT_FALSE(loop->direct_io());
    }
  }
}

// A disk behind with large sectors does no direct I/O for a device with small ones.
TEST_F(LoopOptionsTest, SmallSectorsOnLargeOnesWorkThroughThePageCache) {
  SKIP_UNLESS_PROGRAM("mkfs.ext4");
  const auto disk = attach_with(spec_of(Kind::ram, 64 * MiB), {.sector_size = 4096});
  run(mkfs("ext4", disk->node()));
  const Mounted mounted(disk->node(), "ext4", folder / "disk");
  const std::string image = folder / "disk/image";
  const devio::FileDescriptor file(open(image.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(fallocate(file.get(), 0, 0, 8 * MiB), 0);
  for (const unsigned size : {512U, 4096U}) {
    const auto loop = attach_with(spec_of(Kind::loop_file, 0, image), {.sector_size = size});
    EXPECT_EQ(loop->direct_io(), size == 4096) << size;
    write_at(loop->node(), 512 * size, "written");
    loop->drop_backing_cache();
    EXPECT_EQ(content_of(loop->node()).substr(512 * size, 7), "written") << size;
    loop->detach();
  }
}

// Blocks that were never written read as zeros, those beside a written one too.
TEST_F(LoopOptionsTest, PreallocatedBlocksAreReadAndWritten) {
  constexpr std::size_t size = 8 * MiB;
  for (const bool direct : {true, false}) {
    const auto loop = attach_with(spec_of(Kind::loop_new, size), {.direct_io = direct});
    std::string expected(size, '\0');
    EXPECT_TRUE(content_of(loop->node()) == expected);
    for (const std::size_t offset : {std::size_t{0}, 3 * MiB + 512, 5 * MiB - 100, size - 7}) {
      write_at(loop->node(), static_cast<off_t>(offset), "written");
      expected.replace(offset, 7, "written");
    }
    loop->preallocate_again();
    const devio::FileDescriptor device(open(loop->node().c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
    const std::unique_ptr<void, decltype(&std::free)> buffer(std::aligned_alloc(4096, size), &std::free);
    ASSERT_EQ(read(device.get(), buffer.get(), size), static_cast<ssize_t>(size));
    EXPECT_EQ(std::memcmp(buffer.get(), expected.data(), size), 0) << "direct_io " << direct;
  }
}

TEST_F(LoopOptionsTest, TheCacheBehindIsWrittenAndDropped) {
  constexpr std::size_t size = 16 * MiB;
  const std::string image = sparse_image(folder, "image", size);
  const auto loop = attach_with(spec_of(Kind::loop_file, 0, image), {.direct_io = false});
  const std::string data(8 * MiB, 'x');
  write_at(loop->node(), 0, data);
  EXPECT_GE(cached(image, size), 8 * MiB) << "no case for this test";
  loop->drop_backing_cache();
  EXPECT_EQ(cached(image, size), 0U);
  EXPECT_TRUE(content_of(loop->node()).starts_with(data));
  // Where there is no second cache, nothing is done and nothing lost.
  const auto memory = attach_with(spec_of(Kind::ram, MiB), {});
  write_at(memory->node(), 0, "kept");
  memory->drop_backing_cache();
  EXPECT_TRUE(content_of(memory->node()).starts_with("kept"));
  memory->detach();
  EXPECT_NO_THROW(memory->drop_backing_cache());
}

}  // namespace
}  // namespace mongo
