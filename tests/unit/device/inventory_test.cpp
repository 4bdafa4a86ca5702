// The list of devices where they cannot be opened, with a made-up /sys.
#include "harness/device/inventory.h"

#include <gtest/gtest.h>

#include "tests/unit/device/fake_tree.h"

namespace mongo {
namespace {

TEST(Inventory, SizeAndNumberAreKnownWithoutOpeningTheDevice) {
  const fake::Machine machine;
  const auto add = [&](const std::string& name, const std::string& size, const std::string& number) {
    machine.write("sys/class/block/" + name + "/size", size);
    machine.write("sys/class/block/" + name + "/dev", number);
  };
  // No such nodes: they cannot be opened, as without root.
  add("mongo-a", "131072\n", "8:16\n");
  add("mongo-b!c", "1\n", "8:17\n");
  add("mongo-d", "0\n", "8:18\n");
  add("mongo-e", "rubbish\n", "");
  add("mongo-f", "36028797018963968\n", "8:19\n");  // times 512 is 2^64
  const std::vector<InventoryItem> items = list_devices({.root = machine.folder(), .destroy = false, .keep_paths = {}});
  ASSERT_EQ(items.size(), 4U) << "without the one that has no medium";
  EXPECT_EQ(items[0].device.resolved, "/dev/mongo-a");
  EXPECT_EQ(items[0].size_bytes, 64U << 20);
  EXPECT_EQ(items[0].major_minor, "8:16");
  EXPECT_EQ(items[1].device.resolved, "/dev/mongo-b/c");
  EXPECT_EQ(items[1].size_bytes, 512U);
  EXPECT_EQ(items[2].size_bytes, std::nullopt);
  EXPECT_EQ(items[2].major_minor, "");
  EXPECT_EQ(items[3].size_bytes, std::nullopt);
  for (const InventoryItem& item : items) {
    EXPECT_FALSE(item.accepted);
    EXPECT_NE(item.contents_unknown, "") << "nothing is known of what it holds";
    EXPECT_EQ(item.contents_unknown, item.why_not);
  }
}

}  // namespace
}  // namespace mongo
