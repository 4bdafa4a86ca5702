#include "harness/device/queue.h"

#include <gtest/gtest.h>

#include "harness/device/mount.h"
#include "tests/unit/device/fake_tree.h"

namespace mongo {
namespace {

using fake::Machine;

class Queue : public testing::Test {
 protected:
  void queue(const std::string& file, const std::string& text) const {
    machine.write(Machine::sys("sdb") + "/queue/" + file, text + "\n");
  }
  DeviceRecord of(const std::string& major_minor) const {
    DeviceRecord device;
    describe_queue(major_minor, device, machine.folder());
    return device;
  }
  Machine machine;
};

TEST_F(Queue, OfADiskAndOfItsPartition) {
  queue("scheduler", "none [mq-deadline] kyber bfq");
  queue("write_cache", "write back");
  queue("rotational", "1");
  queue("nr_requests", "256");
  queue("logical_block_size", "512");
  queue("physical_block_size", "4096");
  for (const char* number : {"8:16", "8:17"}) {
    const DeviceRecord device = of(number);
    EXPECT_EQ(device.scheduler, "mq-deadline") << number;
    EXPECT_EQ(device.write_cache, "write back");
    EXPECT_EQ(device.rotational, true);
    EXPECT_EQ(device.queue_depth, 256U);
    EXPECT_EQ(device.logical_sector_bytes, 512U);
    EXPECT_EQ(device.physical_sector_bytes, 4096U);
  }
}

TEST_F(Queue, WhatIsMissingStaysEmpty) {
  queue("rotational", "0");
  queue("nr_requests", "many");
  queue("logical_block_size", "");
  for (const char* number : {"8:16", "9:9", ""}) {
    const DeviceRecord device = of(number);
    EXPECT_EQ(device.rotational, number == std::string("8:16") ? std::optional(false) : std::nullopt);
    EXPECT_EQ(device.scheduler + device.write_cache, "");
    EXPECT_FALSE(device.queue_depth || device.logical_sector_bytes || device.physical_sector_bytes);
  }
}

TEST_F(Queue, Schedulers) {
  const std::pair<const char*, const char*> texts[] = {{"[none]", "none"}, {"none", "none"}, {"[bfq] none", "bfq"},
                                                       {"none bfq", ""},   {"]x[", "]x["},   {"", ""}};
  for (const auto& [text, expected] : texts) {
    queue("scheduler", text);
    EXPECT_EQ(of("8:16").scheduler, expected) << text;
  }
}

TEST(MountVersion, NamesTheLibrary) {
  const std::string version = mount_version();
  EXPECT_EQ(version.find("libmount 2."), 0U) << version;
}

}  // namespace
}  // namespace mongo
