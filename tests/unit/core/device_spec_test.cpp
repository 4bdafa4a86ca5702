#include "harness/core/device_spec.h"

#include <gtest/gtest.h>

#include "harness/core/errors.h"

namespace mongo {
namespace {

TEST(DeviceSpec, TellsTheFourKindsApart) {
  EXPECT_EQ(parse_device_spec("/dev/sdb1").kind, DeviceSpec::Kind::block);
  EXPECT_EQ(parse_device_spec("/dev/sdb1").path, "/dev/sdb1");
  EXPECT_EQ(parse_device_spec("loop:2GiB").kind, DeviceSpec::Kind::loop_new);
  EXPECT_EQ(parse_device_spec("loop:2GiB").size.bytes, 2147483648U);
  EXPECT_EQ(parse_device_spec("loop:disk.img").kind, DeviceSpec::Kind::loop_file);
  EXPECT_EQ(parse_device_spec("loop:./2GiB").path, "./2GiB");
  EXPECT_EQ(parse_device_spec("loop:/a/1G").kind, DeviceSpec::Kind::loop_file);
  EXPECT_EQ(parse_device_spec("ram:512M").kind, DeviceSpec::Kind::ram);
  EXPECT_EQ(parse_device_spec("ram:512M").given, "ram:512M");
}

TEST(DeviceSpec, RefusesSizesThatAreNone) {
  for (const char* text : {"loop:", "ram:", "ram:0", "ram:many", "ram:-1G", "loop:1Q", "loop:513", "ram:9E"}) {
    EXPECT_THROW(parse_device_spec(text), UsageError) << text;
  }
}

}  // namespace
}  // namespace mongo
