#include "harness/device/signatures.h"

#include <gtest/gtest.h>

#include <boost/filesystem.hpp>
#include <fstream>
#include <set>

#include "harness/core/errors.h"

namespace mongo {
namespace {

namespace fs = boost::filesystem;

const std::string own_uuid = "6d6f6e67-6f2d-8123-9234-0123456789ab";

TEST(OwnUuid, HasTheVendorFormAndIsNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string uuid = make_uuid();
    EXPECT_EQ(uuid.size(), 36u);
    EXPECT_TRUE(uuid.starts_with("6d6f6e67-6f2d-8")) << uuid;
    EXPECT_NE(std::string("89ab").find(uuid[19]), std::string::npos) << uuid;
    EXPECT_TRUE(made_by_this_tool({{"ext4", "filesystem", "mongo", uuid}})) << uuid;
    seen.insert(uuid);
  }
  EXPECT_EQ(seen.size(), 1000u);
}

TEST(OwnSignature, BlankOrOneFileSystemWithLabelAndUuid) {
  EXPECT_TRUE(made_by_this_tool({}));
  EXPECT_TRUE(made_by_this_tool({{"xfs", "filesystem", "mongo", own_uuid}}));
  EXPECT_FALSE(made_by_this_tool({{"xfs", "filesystem", "mongo", "0ee9e7a4-6f2d-8123-9234-0123456789ab"}}));
  EXPECT_FALSE(made_by_this_tool({{"xfs", "filesystem", "mongo", ""}}));
  EXPECT_FALSE(made_by_this_tool({{"xfs", "filesystem", "mongodb", own_uuid}}));
  EXPECT_FALSE(made_by_this_tool({{"xfs", "filesystem", "", own_uuid}}));
  EXPECT_FALSE(made_by_this_tool({{"LVM2_member", "raid", "mongo", own_uuid}}));
  EXPECT_FALSE(made_by_this_tool({{"xfs", "filesystem", "mongo", own_uuid}, {"dos", "partition table", "", ""}}));
  for (const char* uuid : {"6d6f6e67-6f2d-4123-9234-0123456789ab", "6d6f6e67-6f2d-8123-c234-0123456789ab",
                           "6d6f6e67-6f2d-8123-9234-0123456789a", "6d6f6e67-6f2d-8123-9234-0123456789abc",
                           "6d6f6e67-6f2d-8123-9234-0123456789ag", "6d6f6e676f2d812392340123456789ab",
                           "6D6F6E67-6F2D-8123-9234-0123456789AB"}) {
    EXPECT_FALSE(made_by_this_tool({{"xfs", "filesystem", "mongo", uuid}})) << uuid;
  }
}

TEST(OwnSignature, APoolWhoseNameHoldsTheUuid) {
  EXPECT_TRUE(made_by_this_tool({{"zfs_member", "filesystem", "mongo-" + own_uuid, "10359568332488064040"}}));
  for (const std::string& name :
       {std::string("mongo"), std::string("mongo-"), own_uuid, "mongodb-" + own_uuid, "mongo-" + own_uuid + "0",
        std::string("mongo-0ee9e7a4-6f2d-8123-9234-0123456789ab")}) {
    EXPECT_FALSE(made_by_this_tool({{"zfs_member", "filesystem", name, "10359568332488064040"}})) << name;
  }
  EXPECT_FALSE(
      made_by_this_tool({{"zfs_member", "filesystem", "mongo", own_uuid}, {"dos", "partition table", "", ""}}));
  EXPECT_FALSE(made_by_this_tool({{"LVM2_member", "raid", "mongo-" + own_uuid, ""}}));
}

TEST(DescribeSignature, SaysWhatPeopleSay) {
  EXPECT_EQ(describe({"xfs", "filesystem", "data", "11-22"}), "xfs file system, label \"data\", UUID 11-22");
  EXPECT_EQ(describe({"dos", "partition table", "", "abcd"}), "partition table (dos), UUID abcd");
  EXPECT_EQ(describe({"swap", "other", "", ""}), "swap");
  EXPECT_EQ(describe({"zfs_member", "raid", "tank", ""}),
            "zfs_member (member of a RAID, volume group or pool), label \"tank\"");
  EXPECT_EQ(describe({"ext4", "filesystem", "\x1b[2J", ""}), "ext4 file system, label \"\\x1b[2J\"");
  EXPECT_EQ(describe({"", "", "", ""}), "something without a name");
}

class SignatureFile : public testing::Test {
 protected:
  SignatureFile() {
    std::ofstream file(path, std::ios::binary);
    file.seekp((1 << 20) - 1);
    file.put('\0');
  }
  ~SignatureFile() override {
    boost::system::error_code ignored;
    fs::remove(path, ignored);
  }
  void put(std::streamoff offset, const std::string& bytes) const {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(offset);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  const std::string path = (fs::temp_directory_path() / fs::unique_path("mongo-signature-%%%%%%%%")).string();
};

TEST_F(SignatureFile, ListsAllOfThem) {
  EXPECT_TRUE(read_signatures(path).empty());
  put(446, std::string("\x80\x00\x02\x00\x83\x00\x08\x00\x01\x00\x00\x00\x00\x04\x00\x00", 16));
  put(510, "\x55\xaa");
  put(4086, "SWAPSPACE2");
  put(1024, std::string("\x01\x00\x00\x00\xff\x00\x00\x00", 8));
  put(0x10034, "ReIsErFs");
  std::set<std::string> types;
  for (const Signature& each : read_signatures(path)) types.insert(each.type + "/" + each.usage);
  EXPECT_TRUE(types.contains("dos/partition table"));
  EXPECT_TRUE(types.contains("swap/other"));
  EXPECT_GE(types.size(), 2u);
}

TEST_F(SignatureFile, WhatCannotBeReadIsAnError) {
  try {
    read_signatures("/nonexistent");
    FAIL();
  } catch (const RunError& error) {
    EXPECT_EQ(error.step(), "probe");
  }
  EXPECT_THROW(read_signatures(fs::temp_directory_path().string()), RunError);
}

TEST_F(SignatureFile, OnlyBlockDevicesAreWiped) {
  put(4086, "SWAPSPACE2");
  put(1024, std::string("\x01\x00\x00\x00\xff\x00\x00\x00", 8));
  try {
    wipe_signatures(path);
    FAIL();
  } catch (const RunError& error) {
    EXPECT_EQ(error.step(), "wipe");
    EXPECT_NE(std::string(error.what()).find("not a block device"), std::string::npos);
  }
  EXPECT_EQ(read_signatures(path).size(), 1u);
}

}  // namespace
}  // namespace mongo
