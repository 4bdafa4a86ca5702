#include <gtest/gtest.h>

#include "tests/unit/device/fake_tree.h"

namespace mongo {
namespace {

std::string refusal_of(const fake::Machine& machine, const std::string& path) {
  try {
    machine.guard().resolve(path);
  } catch (const DeviceRefused& error) {
    return error.what();
  }
  return "accepted";
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(GuardResolve, EveryKindOfWrongPathHasItsOwnReason) {
  fake::Machine machine;
  machine.kernel->add_file("disk.img", S_IFREG | 0644);
  machine.kernel->add_file("/srv", S_IFDIR | 0755);
  machine.kernel->add_file("/dev/null", S_IFCHR | 0666);
  machine.kernel->add_file("/run/pipe", S_IFIFO | 0666);
  EXPECT_TRUE(says(refusal_of(machine, ""), "empty name"));
  EXPECT_TRUE(says(refusal_of(machine, "/dev/nope"), "/dev/nope: it does not exist"));
  EXPECT_TRUE(says(refusal_of(machine, "disk.img"), "regular file"));
  EXPECT_TRUE(says(refusal_of(machine, "disk.img"), "loop:disk.img"));
  EXPECT_TRUE(says(refusal_of(machine, "/srv"), "directory"));
  EXPECT_TRUE(says(refusal_of(machine, "/dev/null"), "character device"));
  EXPECT_TRUE(says(refusal_of(machine, "/run/pipe"), "named pipe"));
  EXPECT_TRUE(says(refusal_of(machine, std::string("/dev/s\0b", 8)), "NUL"));
}

TEST(GuardResolve, NoMediumAndNoSizeAreRefused) {
  fake::Machine machine;
  machine.kernel->errors[{"/dev/sdb", O_RDONLY}] = ENOMEDIUM;
  EXPECT_TRUE(says(refusal_of(machine, "/dev/sdb"), "ENOMEDIUM"));
  machine.kernel->errors[{"/dev/sdb", O_RDONLY}] = ENXIO;
  EXPECT_TRUE(says(refusal_of(machine, "/dev/sdb"), "ENXIO"));
  machine.kernel->errors[{"/dev/sdb", O_RDONLY}] = EACCES;
  EXPECT_TRUE(says(refusal_of(machine, "/dev/sdb"), "root"));
  machine.kernel->errors.clear();
  machine.kernel->devices["/dev/sdb"].size_bytes = 0;
  EXPECT_TRUE(says(refusal_of(machine, "/dev/sdb"), "0 bytes"));
  machine.kernel->devices["/dev/sdb"].size_bytes = 512;
  machine.kernel->devices["/dev/sdb"].rdev = makedev(8, 32);
  EXPECT_TRUE(says(refusal_of(machine, "/dev/sdb"), "another device"));
}

TEST(GuardResolve, FollowsLinksAndFindsTheIdentity) {
  fake::Machine machine;
  machine.kernel->links["/tmp/link2"] = "/tmp/link1";
  machine.kernel->links["/tmp/link1"] = "/dev/sdb";
  machine.write(fake::Machine::sys("sdb") + "/device/model", "DISK 4000   \n");
  machine.write(fake::Machine::sys("sdb") + "/device/serial", "  S3R1AL\n");
  for (const char* name : {"ata-DISK_4000_S3R1AL", "wwn-0x5000c500", "ata-OTHER"}) {
    machine.write(std::string("dev/disk/by-id/") + name, "");
  }
  machine.kernel->links["/dev/disk/by-id/ata-DISK_4000_S3R1AL"] = "/dev/sdb";
  machine.kernel->links["/dev/disk/by-id/wwn-0x5000c500"] = "/dev/sdb";
  machine.kernel->links["/dev/disk/by-id/ata-OTHER"] = "/dev/vda";
  const BlockDevice device = machine.guard().resolve("/tmp/link2");
  EXPECT_EQ(device.given, "/tmp/link2");
  EXPECT_EQ(device.resolved, "/dev/sdb");
  EXPECT_EQ(device.major_minor(), "8:16");
  EXPECT_EQ(device.size_bytes, 1u << 30);
  EXPECT_EQ(device.model, "DISK 4000");
  EXPECT_EQ(device.serial, "S3R1AL");
  EXPECT_EQ(device.by_id, "/dev/disk/by-id/ata-DISK_4000_S3R1AL");
  const BlockDevice partition = machine.guard().resolve("/dev/sdb1");
  EXPECT_EQ(partition.model, "DISK 4000") << "a partition has the model of its disk";
  EXPECT_EQ(partition.by_id, "");
}

TEST(GuardResolve, ANodeByMknodIsKnownByTheKernelsOwn) {
  fake::Machine machine;
  machine.kernel->add_device("/tmp/alias", makedev(8, 16));
  EXPECT_EQ(machine.guard().resolve("/tmp/alias").given, "/tmp/alias");
  EXPECT_EQ(machine.guard().resolve("/tmp/alias").resolved, "/dev/sdb");
  machine.kernel->nodes["/dev/sdb"].rdev = makedev(8, 32);  // the name is another device's
  EXPECT_EQ(machine.guard().resolve("/tmp/alias").resolved, "/tmp/alias");
  machine.kernel->nodes.erase("/dev/sdb");
  EXPECT_EQ(machine.guard().resolve("/tmp/alias").resolved, "/tmp/alias");
}

TEST(GuardResolve, TheFileBehindALoopDevice) {
  fake::Machine machine;
  machine.add_loop(1, "/img/a b", 500);
  EXPECT_EQ(machine.guard().resolve("/dev/loop1").backing, "/img/a b");
  EXPECT_EQ(machine.guard().resolve("/dev/sdb").backing, "");
}

TEST(GuardResolve, TextNamesDeviceReasonEvidenceAndAdvice) {
  const Refusal refusal{Refusal::Reason::mounted, "/tmp/link (/dev/sdb)", "is mounted on /srv", "/proc/self/mountinfo",
                        "Unmount it first."};
  EXPECT_EQ(refusal.text(),
            "refusing to use /tmp/link (/dev/sdb): it is mounted on /srv [/proc/self/mountinfo]. Unmount it first.");
}

}  // namespace
}  // namespace mongo
