#include "harness/device/signatures.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "harness/device/busy.h"
#include "tests/device/device/support.h"

namespace mongo {
namespace {

using namespace testing_support;

std::uint32_t crc32(const std::string& bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
  }
  return ~crc;
}

template <typename Number>
std::string little_endian(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

// A GPT header with an empty table. Source: UEFI specification 2.10, 5.3.2.
std::string gpt_header(std::uint64_t own, std::uint64_t other, std::uint64_t sectors, std::uint64_t table) {
  const std::string entries(128 * 128, '\0');
  const auto header = [&](std::uint32_t crc) {
    return std::string("EFI PART") + little_endian<std::uint32_t>(0x10000) + little_endian<std::uint32_t>(92) +
           little_endian(crc) + little_endian<std::uint32_t>(0) + little_endian(own) + little_endian(other) +
           little_endian<std::uint64_t>(34) + little_endian<std::uint64_t>(sectors - 34) + std::string(16, '\x42') +
           little_endian(table) + little_endian<std::uint32_t>(128) + little_endian<std::uint32_t>(128) +
           little_endian(crc32(entries));
  };
  return header(crc32(header(0)));
}

void write_gpt(const std::string& node, std::uint64_t size, bool protective_mbr) {
  const std::uint64_t sectors = size / 512;
  if (protective_mbr) {
    write_at(node, 446,
             std::string("\x00\x00\x02\x00\xee\xff\xff\xff\x01\x00\x00\x00", 12) +
                 little_endian(static_cast<std::uint32_t>(sectors - 1)));
    write_at(node, 510, "\x55\xaa");
  }
  write_at(node, 512, gpt_header(1, sectors - 1, sectors, 2));
  write_at(node, static_cast<off_t>((sectors - 1) * 512), gpt_header(sectors - 1, 1, sectors, sectors - 33));
}

// What libblkid takes for a pool member: four uberblocks in the rings of the labels (superblocks/zfs.c).
void write_zfs_label(const std::string& node, std::uint64_t label_offset, int uberblocks) {
  for (int i = 0; i < uberblocks; ++i) {
    write_at(node, static_cast<off_t>(label_offset + 128 * 1024 + static_cast<std::uint64_t>(i) * 1024),
             little_endian<std::uint64_t>(0x00bab10c) + little_endian<std::uint64_t>(5000));
  }
}

bool has(const std::vector<Signature>& signatures, const std::string& type) {
  return std::any_of(signatures.begin(), signatures.end(), [&](const auto& each) { return each.type == type; });
}

std::string all(const std::vector<Signature>& signatures) {
  std::string text;
  for (const Signature& each : signatures) text += describe(each) + "; ";
  return text;
}

constexpr std::uint64_t size = 320 * MiB;

class SignatureDevice : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_UNLESS_ROOT_WITH_LOOPS();
    enter_private_mount_namespace();
    loop = attach(size);
  }
  void expect_wiped() const {
    wait_until_free(loop->node(), std::chrono::seconds(5));
    wipe_signatures(loop->node());
    EXPECT_EQ(all(read_signatures(loop->node())), "");
  }
  std::unique_ptr<LoopDevice> loop;
};

TEST_F(SignatureDevice, ABlankOneIsWipedAndBlankAfterwards) {
  EXPECT_TRUE(read_signatures(loop->node()).empty());
  const std::string before = ends_of(loop->node());
  expect_wiped();
  EXPECT_TRUE(ends_of(loop->node()) == before);
  write_at(loop->node(), 12345, "payload");
  expect_wiped();
  EXPECT_TRUE(ends_of(loop->node()) == before) << "data of no known kind goes too";
}

TEST_F(SignatureDevice, FileSystemsOfThisToolAreRecognisedAndWiped) {
  for (const std::string type : {"ext4", "xfs", "btrfs"}) {
    if (find_program("mkfs." + type).empty()) continue;
    const std::string uuid = make_uuid();
    const std::string uuid_flag = type == "xfs" ? "-m" : "-U";
    run({"mkfs." + type, "-q", "-L", "mongo", uuid_flag, type == "xfs" ? "uuid=" + uuid : uuid, loop->node()});
    const std::vector<Signature> found = read_signatures(loop->node());
    ASSERT_EQ(found.size(), 1u) << all(found);
    EXPECT_EQ(found[0].type, type);
    EXPECT_EQ(found[0].usage, "filesystem");
    EXPECT_EQ(found[0].label, "mongo");
    EXPECT_EQ(found[0].uuid, uuid);
    EXPECT_TRUE(made_by_this_tool(found));
    expect_wiped();
  }
}

TEST_F(SignatureDevice, PartitionTables) {
  write_at(loop->node(), 446, std::string("\x00\x00\x02\x00\x83\x00\x08\x00\x00\x08\x00\x00\x00\x40\x00\x00", 16));
  write_at(loop->node(), 510, "\x55\xaa");
  EXPECT_TRUE(has(read_signatures(loop->node()), "dos")) << all(read_signatures(loop->node()));
  expect_wiped();
  for (const bool protective_mbr : {true, false}) {
    write_gpt(loop->node(), size, protective_mbr);
    EXPECT_TRUE(has(read_signatures(loop->node()), "gpt")) << all(read_signatures(loop->node()));
    expect_wiped();
  }
  // Only the spare copy at the end is left
  write_gpt(loop->node(), size, true);
  write_at(loop->node(), 512, std::string(512, '\0'));
  EXPECT_TRUE(has(read_signatures(loop->node()), "gpt")) << all(read_signatures(loop->node()));
  expect_wiped();
}

TEST_F(SignatureDevice, ZfsLabelsAtTheEndSurviveMkfsAndAreFoundAndWiped) {
  SKIP_UNLESS_PROGRAM("mkfs.ext4");
  const std::uint64_t last = size - size % (256 * 1024);
  for (int ring = 0; ring < 2; ++ring) {
    write_zfs_label(loop->node(), static_cast<std::uint64_t>(ring) * 256 * 1024, 128);
    write_zfs_label(loop->node(), last - static_cast<std::uint64_t>(ring + 1) * 256 * 1024, 128);
  }
  const std::vector<Signature> pool = read_signatures(loop->node());
  ASSERT_TRUE(has(pool, "zfs_member")) << all(pool);
  EXPECT_NE(describe(pool[0]).find("pool"), std::string::npos) << describe(pool[0]);
  run({"mkfs.ext4", "-q", "-F", "-E", "nodiscard", "-L", "mongo", "-U", make_uuid(), loop->node()});
  const std::vector<Signature> both = read_signatures(loop->node());
  EXPECT_TRUE(has(both, "zfs_member")) << all(both);
  EXPECT_TRUE(has(both, "ext4")) << all(both);
  EXPECT_FALSE(made_by_this_tool(both));
  expect_wiped();
  // Not one uberblock is left for zpool to find either.
  EXPECT_EQ(ends_of(loop->node()).find(little_endian<std::uint64_t>(0x00bab10c)), std::string::npos);
}

TEST_F(SignatureDevice, EverythingAtOnce) {
  SKIP_UNLESS_PROGRAM("mkfs.btrfs");
  run({"mkfs.btrfs", "-q", loop->node()});
  write_gpt(loop->node(), size, true);
  write_at(loop->node(), 4086, "SWAPSPACE2");
  write_at(loop->node(), 0, "XFSB");
  write_zfs_label(loop->node(), size - 256 * 1024, 4);
  EXPECT_GE(read_signatures(loop->node()).size(), 3u) << all(read_signatures(loop->node()));
  expect_wiped();
}

TEST_F(SignatureDevice, AMountedDeviceIsNotWiped) {
  SKIP_UNLESS_PROGRAM("mkfs.ext4");
  run({"mkfs.ext4", "-q", loop->node()});
  const Folder folder;
  const Mounted mounted(loop->node(), "ext4", folder / "point");
  try {
    wipe_signatures(loop->node());
    FAIL();
  } catch (const RunError& error) {
    EXPECT_EQ(error.step(), "wipe");
    EXPECT_NE(std::string(error.what()).find("EBUSY"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(has(read_signatures(loop->node()), "ext4"));
}

TEST_F(SignatureDevice, AReadOnlyDeviceIsNotWiped) {
  SKIP_UNLESS_PROGRAM("losetup");
  const Folder folder;
  const std::string image = sparse_image(folder, "ro.img", MiB);
  write_at(image, 446, std::string("\x00\x00\x02\x00\x83\x00\x08\x00\x00\x08\x00\x00\x00\x40\x00\x00", 16));
  write_at(image, 510, "\x55\xaa");
  const ForeignLoop read_only(image, {"--read-only"});
  EXPECT_THROW(wipe_signatures(read_only.node()), RunError);
  EXPECT_TRUE(has(read_signatures(read_only.node()), "dos"));
}

}  // namespace
}  // namespace mongo
