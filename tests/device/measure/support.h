#pragma once

#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <string>
#include <vector>

#include "harness/core/descriptor.h"
#include "harness/core/interrupt.h"
#include "harness/measure/extents.h"
#include "harness/measure/space.h"
#include "harness/measure/survey.h"
#include "tests/support/device_fixture.h"

namespace mongo::test {

inline constexpr off_t block = 4096;
using Buckets = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// A small mounted file system with blocks of 4 KiB on a loop device in memory, and files on it.
class MeasureTest : public DeviceTest {
 protected:
  void TearDown() override {
    root_ = Descriptor();
    if (std::count(mounts_.begin(), mounts_.end(), path("mnt")) > 0) unmount(path("mnt"));
    // Before the memory that is behind it.
    if (!node_.empty()) release(node_);
    DeviceTest::TearDown();
  }

  static bool is_ext(const std::string& type) { return type.starts_with("ext"); }
  static bool has_extents(const std::string& type) { return type != "ext2" && type != "ext3"; }

  void make(const std::string& type, std::vector<std::string> mkfs_options = {}, std::string mount_options = "") {
    type_ = type;
    mount_options_ = std::move(mount_options);
    mount("tmpfs", path("memory"), {"-t", "tmpfs"});
    const std::string file = image("memory/disk", (type == "xfs" ? 300 : type == "btrfs" ? 256 : 64) * MiB);
    const CommandResult attached = run({"losetup", "--find", "--show", file});
    ASSERT_TRUE(attached.ok()) << attached.err;
    node_ = attached.out.substr(0, attached.out.find('\n'));
    devices_.push_back(node_);
    std::vector<std::string> argv{"mkfs." + type, is_ext(type) ? "-F" : "-f", "-q"};
    if (is_ext(type)) argv.insert(argv.end(), {"-b", "4096", "-m", "0"});
    argv.insert(argv.end(), mkfs_options.begin(), mkfs_options.end());
    argv.push_back(node_);
    const CommandResult mkfs = run(argv);
    ASSERT_TRUE(mkfs.ok()) << mkfs.err;
    open_root();
  }

  void open_root() {
    std::vector<std::string> options{"-t", type_};
    if (!mount_options_.empty()) options.insert(options.end(), {"-o", mount_options_});
    mount(node_, path("mnt"), options);
    root_ = Descriptor(open(path("mnt").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(root_);
  }

  void leave_root() {
    root_ = Descriptor();
    unmount(path("mnt"));
  }

  /// After this nothing is set aside for files that may grow, and what was deleted is free.
  void mount_again() {
    leave_root();
    open_root();
  }

  std::string at(const std::string& name) const { return path("mnt/" + name); }

  Descriptor create(const std::string& name) const {
    Descriptor file(open(at(name).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    EXPECT_TRUE(file) << name << errno;
    return file;
  }

  /// Writes `length` blocks at each of the given offsets (in blocks), in that order, and brings them to their place.
  std::string write_blocks(const std::string& name, const std::vector<off_t>& offsets, std::size_t length = 1) const {
    const Descriptor file = create(name);
    const std::string data(length * block, 'x');
    for (const off_t offset : offsets) {
      EXPECT_EQ(pwrite(file.get(), data.data(), data.size(), offset * block), static_cast<ssize_t>(data.size()));
    }
    EXPECT_EQ(fsync(file.get()), 0);
    return at(name);
  }

  /// A file of `pieces` blocks in that many pieces, each at the end of a hole but the first.
  std::string write_pieces(const std::string& name, off_t pieces) const {
    std::vector<off_t> offsets;
    for (off_t piece = pieces - 1; piece >= 0; --piece) offsets.push_back(2 * piece);
    return write_blocks(name, offsets);
  }

  static FileExtents extents(const std::string& file, unsigned buffer = 512, std::uint32_t flags = 0) {
    const Descriptor fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
    FileExtents result;
    EXPECT_EQ(ExtentReader(buffer).read(fd.get(), flags, result), 0) << file;
    return result;
  }

  /// Another opinion: the runs of blocks that filefrag(8) prints.
  static std::uint64_t fragments_by_filefrag(const std::string& file) {
    const CommandResult result = run({"filefrag", "-v", file});
    EXPECT_TRUE(result.ok()) << result.err;
    std::istringstream lines(result.out);
    std::uint64_t fragments = 0;
    long next_logical = -1, next_physical = -1;
    for (std::string line; std::getline(lines, line);) {
      long first = 0, last = 0, place = 0, place_end = 0;
      if (sscanf(line.c_str(), " %*d: %ld.. %ld: %ld.. %ld:", &first, &last, &place, &place_end) != 4) continue;
      const auto has = [&](const char* flag) { return line.find(flag) != std::string::npos; };
      if (has("unwritten") || has("inline") || has("delalloc") || has("unknown") || has("encoded")) {
        next_logical = -1;
        continue;
      }
      if (first != next_logical || place != next_physical) ++fragments;
      next_logical = last + 1;
      next_physical = place_end + 1;
    }
    return fragments;
  }

  /// The file has exactly so many fragments, by both.
  static void expect_fragments(const std::string& file, std::uint64_t fragments) {
    EXPECT_EQ(extents(file).fragments, fragments) << file;
    EXPECT_EQ(fragments_by_filefrag(file), fragments) << file;
  }

  /// Where the file begins on the device, in bytes, and where it ends when it is one run; 0 and 0 when it is not.
  static std::pair<std::uint64_t, std::uint64_t> place_of(const std::string& file) {
    const Descriptor fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
    alignas(fiemap) char memory[sizeof(fiemap) + 2 * sizeof(fiemap_extent)] = {};
    auto* const map = reinterpret_cast<fiemap*>(memory);
    map->fm_length = FIEMAP_MAX_OFFSET;
    map->fm_extent_count = 2;
    if (ioctl(fd.get(), FS_IOC_FIEMAP, map) != 0 || map->fm_mapped_extents != 1) return {0, 0};
    const fiemap_extent& extent = map->fm_extents[0];
    return {extent.fe_physical, extent.fe_physical + extent.fe_length};
  }

  std::uint64_t free_blocks() const {
    struct statvfs info {};
    EXPECT_EQ(fstatvfs(root_.get(), &info), 0);
    return info.f_bfree;
  }

  /// A file of `pieces` blocks without holes, no two of which lie one after the other: whatever the allocator does.
  std::string write_scattered(const std::string& name, off_t pieces) {
    if (type_ == "btrfs") return scatter_by_cloning(name, pieces);
    return has_extents(type_) ? scatter_by_collapsing(name, pieces) : scatter_by_filling(name, pieces);
  }

  Survey survey(ExtentSource source = ExtentSource::best) const {
    return survey_filesystem(root_.get(), watch_, {}, source);
  }

  std::string type_, node_, mount_options_;
  Descriptor root_;
  InterruptWatch watch_;

 private:
  /// Shares the blocks of a file in one piece in reverse order.
  std::string scatter_by_cloning(const std::string& name, off_t pieces) {
    const std::string source = write_blocks(name + ".source", {0}, static_cast<std::size_t>(pieces));
    EXPECT_EQ(extents(source).fragments, 1U);
    const Descriptor from(open(source.c_str(), O_RDONLY | O_CLOEXEC));
    const Descriptor to = create(name);
    for (off_t i = 0; i < pieces; ++i) {
      const file_clone_range range{from.get(), static_cast<std::uint64_t>((pieces - 1 - i) * block), block,
                                   static_cast<std::uint64_t>(i * block)};
      EXPECT_EQ(ioctl(to.get(), FICLONERANGE, &range), 0) << errno;
    }
    EXPECT_EQ(fsync(to.get()), 0);
    return at(name);
  }

  /// Takes every second block out of a file in one piece, and closes the gaps.
  std::string scatter_by_collapsing(const std::string& name, off_t pieces) {
    const std::string file = write_blocks(name, {0}, static_cast<std::size_t>(2 * pieces - 1));
    EXPECT_EQ(extents(file).fragments, 1U);
    const Descriptor fd(open(file.c_str(), O_RDWR | O_CLOEXEC));
    for (off_t i = 1; i < pieces; ++i) {
      EXPECT_EQ(fallocate(fd.get(), FALLOC_FL_COLLAPSE_RANGE, i * block, block), 0) << errno;
    }
    EXPECT_EQ(fsync(fd.get()), 0);
    return file;
  }

  /// Fills the file system and frees single blocks, so that there are no others.
  std::string scatter_by_filling(const std::string& name, off_t pieces) {
    const std::uint64_t singles = static_cast<std::uint64_t>(4 * pieces);
    {
      const Descriptor filler = create("filler");
      const std::string data(block, 'x');
      while (free_blocks() > singles) EXPECT_EQ(write(filler.get(), data.data(), data.size()), block);
    }
    std::vector<std::pair<std::uint64_t, std::string>> files;
    for (std::uint64_t i = 0; i < 2 * singles; ++i) {
      const std::string single = "single" + std::to_string(i);
      const Descriptor file(open(at(single).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
      const std::string data(block, 'x');
      if (!file || write(file.get(), data.data(), data.size()) != block) break;
      files.emplace_back(0, at(single));
    }
    sync_filesystem(root_.get());
    EXPECT_EQ(free_blocks(), 0U);
    for (auto& [place, file] : files) place = place_of(file).first;
    std::sort(files.begin(), files.end());
    std::uint64_t last_freed = 0;
    for (const auto& [place, file] : files) {
      if (place <= last_freed + static_cast<std::uint64_t>(block)) continue;
      EXPECT_EQ(unlink(file.c_str()), 0);
      last_freed = place;
    }
    sync_filesystem(root_.get());
    EXPECT_GT(free_blocks(), static_cast<std::uint64_t>(pieces));
    return write_blocks(name, {0}, static_cast<std::size_t>(pieces));
  }
};

/// On each type of file system that this host has.
class EachTypeTest : public MeasureTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    MeasureTest::SetUp();
    if (IsSkipped()) return;
    make(GetParam());
  }
};

inline std::string type_name(const ::testing::TestParamInfo<const char*>& test) { return test.param; }

}  // namespace mongo::test
