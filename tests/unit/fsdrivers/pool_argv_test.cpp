// The commands about a ZFS pool, word by word.
#include <gtest/gtest.h>

#include <algorithm>

#include "fsdrivers/catalogue.h"

namespace mongo::fsdrivers {
namespace {

const PoolCommands& zfs() { return find("zfs")->pool.value(); }

std::string line(PoolCommands::Argv argv, std::vector<std::string> options = {}) {
  std::string text;
  for (const std::string& word : argv({"POOL", "/dev/DEVICE", "/mount point", "/search", std::move(options)})) {
    text += (text.empty() ? "" : " ") + (word.find(' ') == std::string::npos ? word : "[" + word + "]");
  }
  return text;
}

TEST(PoolDrivers, OnlyZfsHasAPool) {
  for (const FilesystemDriver& driver : catalogue()) {
    EXPECT_EQ(driver.pool.has_value(), driver.name == "zfs") << driver.name;
    if (!driver.pool) continue;
    EXPECT_NE(driver.pool->name, nullptr) << driver.name;
    for (const auto argv : {driver.pool->create, driver.pool->destroy, driver.pool->export_pool,
                            driver.pool->import_pool, driver.pool->sync, driver.pool->properties}) {
      ASSERT_NE(argv, nullptr) << driver.name;
      EXPECT_NE(line(argv).find("POOL"), std::string::npos) << driver.name << ": every command names the pool";
    }
  }
}

TEST(PoolDrivers, ArgvWithoutOptions) {
  EXPECT_EQ(line(zfs().create),
            "zpool create -f -O compression=off -o cachefile=none -m [/mount point] POOL /dev/DEVICE");
  EXPECT_EQ(line(zfs().destroy), "zpool destroy -f POOL");
  EXPECT_EQ(line(zfs().export_pool), "zpool export POOL");
  EXPECT_EQ(line(zfs().import_pool), "zpool import -d /search -o cachefile=none POOL");
  EXPECT_EQ(line(zfs().sync), "zfs set mongo:sync=yes POOL");
  EXPECT_EQ(
      line(zfs().properties),
      "zfs get -H -o property,value compression,recordsize,atime,checksum,copies,dedup,logbias,primarycache,xattr "
      "POOL");
}

/// zpool takes no property twice.
TEST(PoolDrivers, CompressionIsTheUsersWhereHeNamesIt) {
  EXPECT_EQ(line(zfs().create, {"-O", "compression=gzip", "-o", "ashift=9"}),
            "zpool create -f -O compression=gzip -o ashift=9 -o cachefile=none -m [/mount point] POOL /dev/DEVICE");
  EXPECT_EQ(line(zfs().create, {"-Ocompress=lz4"}),
            "zpool create -f -Ocompress=lz4 -o cachefile=none -m [/mount point] POOL /dev/DEVICE");
  EXPECT_EQ(line(zfs().create, {"-O", "recordsize=8K"}),
            "zpool create -f -O recordsize=8K -O compression=off -o cachefile=none -m [/mount point] POOL /dev/DEVICE");
}

TEST(PoolDrivers, TheNameHoldsLabelAndUuid) {
  EXPECT_EQ(zfs().name("6d6f6e67-6f2d-8000-8000-000000000000"), "mongo-6d6f6e67-6f2d-8000-8000-000000000000");
}

TEST(PoolDrivers, PropertiesThatWouldPutItElsewhereAreRefused) {
  const std::vector<std::string>& refused = find("zfs")->refused_mkfs_suboptions;
  for (const char* name : {"altroot", "cachefile", "canmount", "mountpoint", "keylocation", "readonly", "sharenfs"}) {
    EXPECT_NE(std::find(refused.begin(), refused.end(), name), refused.end()) << name;
  }
}

}  // namespace
}  // namespace mongo::fsdrivers
