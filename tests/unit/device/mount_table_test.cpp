#include "harness/device/mount_table.h"

#include <gtest/gtest.h>
#include <sys/sysmacros.h>

#include <stdexcept>

namespace mongo {
namespace {

TEST(MountTable, ReadsEscapesTagsAndEmptySources) {
  const auto table = parse_mountinfo(
      "36 35 98:0 /mnt1 /mnt\\0402\\011x\\134y rw,noatime shared:1 master:2 - ext3 /dev/ro\\040ot rw,errors=continue\n"
      "37 36 0:5 / /tmp rw - tmpfs  rw,size=4k\n");
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table[0].id, 36);
  EXPECT_EQ(table[0].device, makedev(98, 0));
  EXPECT_EQ(table[0].root, "/mnt1");
  EXPECT_EQ(table[0].point, "/mnt 2\tx\\y");
  EXPECT_EQ(table[0].type, "ext3");
  EXPECT_EQ(table[0].source, "/dev/ro ot");
  EXPECT_EQ(effective_options(table[0]), "rw,noatime,errors=continue");
  EXPECT_EQ(table[1].source, "");
  EXPECT_EQ(table[1].fs_options, "rw,size=4k");
}

TEST(MountTable, ThrowsForWhatItCannotRead) {
  EXPECT_THROW(parse_mountinfo("36 35 98:0 / / rw\n"), std::invalid_argument);
  EXPECT_THROW(parse_mountinfo("36 35 98 / / rw - ext3 /dev/x rw\n"), std::invalid_argument);
  EXPECT_THROW(parse_mountinfo("x 35 98:0 / / rw - ext3 /dev/x rw\n"), std::invalid_argument);
  EXPECT_THROW(parse_mountinfo("36 35 98:0 / / rw shared:1 ext3 /dev/x rw\n"), std::invalid_argument);
  EXPECT_TRUE(parse_mountinfo("").empty());
}

TEST(MountTable, TheLastMountOnAPointIsSeen) {
  const auto table = parse_mountinfo(
      "1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 8:2 / /srv rw - xfs /dev/b rw\n3 2 8:3 / /srv rw - xfs /dev/c rw\n");
  ASSERT_NE(mounted_at(table, "/srv"), nullptr);
  EXPECT_EQ(mounted_at(table, "/srv")->source, "/dev/c");
  EXPECT_EQ(mounted_at(table, "/sr"), nullptr);
  EXPECT_EQ(mount_of_path(table, "/srv/deep/file")->source, "/dev/c");
  EXPECT_EQ(mount_of_path(table, "/srvx")->source, "/dev/a");
  EXPECT_EQ(mount_of_path({}, "/srvx"), nullptr);
}

TEST(MountTable, ReadOnlyOfEitherSideCounts) {
  const auto table = parse_mountinfo(
      "1 0 8:1 / /a ro,relatime - ext4 /dev/a rw\n2 1 8:2 / /b rw,relatime - ext4 /dev/b ro,context=\"a,b\"\n");
  EXPECT_EQ(effective_options(table[0]), "ro,relatime");
  EXPECT_EQ(effective_options(table[1]), "relatime,ro,context=\"a,b\"");
}

}  // namespace
}  // namespace mongo
