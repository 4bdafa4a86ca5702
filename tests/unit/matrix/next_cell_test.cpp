#include "harness/matrix/next_cell.h"

#include "harness/matrix/planned_device.h"
#include "tests/unit/matrix/folder_test.h"

namespace mongo {
namespace {

using enum CellStatus;
namespace fs = boost::filesystem;
using NextCellTest = test::FolderTest;

std::vector<CellState> cells(const std::vector<CellStatus>& all) {
  std::vector<CellState> result;
  for (const CellStatus one : all) result.push_back({"a", 1, "a-r1", one});
  return result;
}

TEST_F(NextCellTest, InOrderAndNoneBesideAnotherOnItsDisk) {
  const std::vector<CellNeeds> needs{{"sdb"}, {"sdb"}, {"sdc"}, {"sdc"}};
  EXPECT_EQ(next_cell(cells({waiting, waiting, waiting, waiting}), needs), 0U);
  EXPECT_EQ(next_cell(cells({running, waiting, waiting, waiting}), needs), 2U);
  EXPECT_EQ(next_cell(cells({running, waiting, running, waiting}), needs), std::nullopt);
  EXPECT_EQ(next_cell(cells({ok, waiting, running, waiting}), needs), 1U);
  EXPECT_EQ(next_cell(cells({ok, running, failed, interrupted}), needs), 3U);
  EXPECT_EQ(next_cell(cells({ok, unsupported, skipped, incomplete}), needs), std::nullopt);
}

TEST_F(NextCellTest, GuestsAndDirectoriesAreAlone) {
  const std::vector<CellNeeds> needs{{"sdb", true}, {"sdc", true}, {"", false}, {"sdd", false}};
  EXPECT_EQ(next_cell(cells({running, waiting, waiting, waiting}), needs), 3U);
  EXPECT_EQ(next_cell(cells({waiting, waiting, running, waiting}), needs), std::nullopt);
  EXPECT_EQ(next_cell(cells({ok, waiting, ok, running}), needs), 1U);
}

TEST_F(NextCellTest, EachDiskHasAMountPoint) {
  std::vector<ListedCell> listed(5);
  for (ListedCell& one : listed) one.cell.mount_point = "/mnt/mongo";
  separate_mount_points(listed, {{"sdb"}, {"sdc"}, {"sdb"}, {""}, {"sdd"}});
  EXPECT_EQ(listed[0].cell.mount_point, "/mnt/mongo");
  EXPECT_EQ(listed[1].cell.mount_point, "/mnt/mongo-2");
  EXPECT_EQ(listed[2].cell.mount_point, "/mnt/mongo");
  EXPECT_EQ(listed[3].cell.mount_point, "/mnt/mongo");
  EXPECT_EQ(listed[4].cell.mount_point, "/mnt/mongo-3");
}

TEST_F(NextCellTest, DevicesOfTheToolsOwnAreDiskByName) {
  EXPECT_EQ(disk_below(parse_device_spec("loop:1GiB"), "/"), "loop:1GiB");
  EXPECT_NE(disk_below(parse_device_spec("ram:1GiB"), "/"), disk_below(parse_device_spec("loop:1GiB"), "/"));
  put(path("image"), "");
  fs::create_symlink(path("image"), path("link"));
  EXPECT_EQ(disk_below(parse_device_spec("loop:link"), folder_), disk_below(parse_device_spec("loop:image"), folder_));
  EXPECT_EQ(disk_below(parse_device_spec("none"), "/"), "");
  EXPECT_NE(disk_below(parse_device_spec("/dev/there-is-none"), "/"), "");
}

TEST_F(NextCellTest, ANameThatLedNowhereIsNotFollowedLater) {
  std::vector<ListedCell> listed(2);
  listed[0].cell.device = parse_device_spec(path("link"));
  listed[1].cell.device = parse_device_spec("ram:1GiB");
  const std::vector<PlannedDevice> planned = look_at_devices(listed, "/");
  ASSERT_EQ(planned.size(), 1U);
  EXPECT_EQ(planned[0].major_minor, "");
  const auto why = why_another_device(planned, listed[0].cell.device, "/");
  EXPECT_NE(why.value_or("").find("was no block device when the run began"), std::string::npos);
  EXPECT_EQ(why_another_device(planned, listed[1].cell.device, "/"), std::nullopt);
}

TEST_F(NextCellTest, OneDeviceUnderTwoNamesIsSaid) {
  const std::vector<std::string> warnings = same_under_two_names(
      {{"/dev/a", "8:16"}, {"/dev/b", ""}, {"/dev/c", ""}, {"/dev/d", "8:16"}, {"/dev/e", "8:32"}});
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].find("/dev/a and /dev/d are the same device"), 0U);
}

TEST_F(NextCellTest, CellsKnowTheNumberOfTheirDevice) {
  std::vector<ListedCell> listed(2);
  listed[0].cell.device = parse_device_spec("/dev/a");
  listed[1].cell.device = parse_device_spec("ram:1GiB");
  pin_devices(listed, {{"/dev/a", "8:16"}});
  EXPECT_EQ(listed[0].cell.device_number, "8:16");
  EXPECT_EQ(listed[1].cell.device_number, "");
}

TEST_F(NextCellTest, TheSameDiskIsToldBySerialNumberSizeAndFile) {
  const PlannedDevice disk{"/dev/sdb", "8:16", 1000, "S1", ""};
  PlannedDevice now = disk;
  EXPECT_TRUE(same_disk(disk, now));
  now.major_minor = "8:32";
  EXPECT_TRUE(same_disk(disk, now)) << "numbers change when the machine starts again";
  now.serial = "S2";
  EXPECT_FALSE(same_disk(disk, now));
  now = disk;
  now.size_bytes = 1001;
  EXPECT_FALSE(same_disk(disk, now));

  const PlannedDevice loop{"/dev/loop5", "7:5", 1000, "", "/a/disk"};
  now = loop;
  EXPECT_TRUE(same_disk(loop, now));
  now.backing = "/b/disk";
  EXPECT_FALSE(same_disk(loop, now));
  now = loop;
  now.major_minor = "7:6";
  EXPECT_FALSE(same_disk(loop, now)) << "nothing but the number tells it";
}

}  // namespace
}  // namespace mongo
