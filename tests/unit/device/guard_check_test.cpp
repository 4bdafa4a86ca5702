#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/device/fake_tree.h"

namespace mongo {
namespace {

using Reason = Refusal::Reason;
using fake::Machine;

bool says(const std::optional<Refusal>& refusal, const std::string& part) {
  return refusal && refusal->text().find(part) != std::string::npos;
}

#define EXPECT_REFUSED(refusal, why, part)                                          \
  do {                                                                              \
    const std::optional<Refusal> got = (refusal);                                   \
    ASSERT_TRUE(got.has_value());                                                   \
    EXPECT_EQ(static_cast<int>(got->reason), static_cast<int>(why)) << got->text(); \
    EXPECT_TRUE(says(got, part)) << got->text() << "\nshould say: " << (part);      \
    EXPECT_FALSE(got->advice.empty());                                              \
  } while (false)

TEST(GuardCheck, AnIdleBlankDiskAndItsPartitionAreAccepted) {
  Machine machine;
  EXPECT_FALSE(machine.check("/dev/sdb")) << machine.check("/dev/sdb")->text();
  EXPECT_FALSE(machine.check("/dev/sdb1")) << machine.check("/dev/sdb1")->text();
}

TEST(GuardCheck, ReadOnly) {
  Machine machine;
  machine.write(Machine::sys("sdb") + "/ro", "1\n");
  EXPECT_REFUSED(machine.check("/dev/sdb"), Reason::read_only, "is read-only");
  EXPECT_REFUSED(machine.check("/dev/sdb1"), Reason::read_only, "part of the disk sdb");
  Machine other;
  other.kernel->devices["/dev/sdb"].read_only = true;
  EXPECT_REFUSED(other.check("/dev/sdb"), Reason::read_only, "BLKROGET");
  for (const int error : {EROFS, EACCES, EPERM}) {
    Machine third;
    third.kernel->errors[{"/dev/sdb", O_RDWR}] = error;
    EXPECT_REFUSED(third.check("/dev/sdb"), Reason::read_only, "for writing");
  }
}

TEST(GuardCheck, MountedUnderAnotherName) {
  Machine machine;
  machine.kernel->links["/tmp/link2"] = "/dev/sdb";
  machine.write("proc/self/mountinfo", std::string(Machine::own_mounts) +
                                           "30 27 8:16 / /srv/da\\040ta rw shared:1 - xfs /dev/disk/by-label/x rw\n");
  EXPECT_REFUSED(machine.check("/tmp/link2"), Reason::mounted, "/tmp/link2 (/dev/sdb): it is mounted on /srv/da ta");
  EXPECT_REFUSED(machine.check("/dev/sdb", true), Reason::mounted, "mounted");
}

TEST(GuardCheck, AliasByMknod) {
  Machine machine;
  machine.kernel->add_device("/tmp/alias", makedev(8, 16));
  machine.write("proc/self/mountinfo", std::string(Machine::own_mounts) + "30 27 8:16 / /srv rw - xfs /dev/sdb rw\n");
  EXPECT_REFUSED(machine.check("/tmp/alias"), Reason::mounted, "/srv");
}

TEST(GuardCheck, MountedPartitionOfTheDisk) {
  Machine machine;
  machine.add_partition("sdb", "sdb2", makedev(8, 18));
  machine.write("proc/self/mountinfo",
                std::string(Machine::own_mounts) +
                    "30 27 8:17 / /srv rw - xfs /dev/sdb1 rw\n31 27 8:18 / /opt rw - xfs /dev/sdb2 rw\n");
  EXPECT_REFUSED(machine.check("/dev/sdb"), Reason::partition_mounted,
                 "has the partition sdb1, which is mounted on /srv");
  EXPECT_REFUSED(machine.check("/dev/sdb"), Reason::partition_mounted, "sdb2 on /opt");
  EXPECT_REFUSED(machine.check("/dev/sdb1"), Reason::mounted, "/srv");
}

TEST(GuardCheck, ASiblingPartitionInUseIsNoReason) {
  Machine machine;
  machine.add_partition("sdb", "sdb2", makedev(8, 18));
  machine.write("proc/self/mountinfo", std::string(Machine::own_mounts) + "30 27 8:18 / /opt rw - xfs /dev/sdb2 rw\n");
  EXPECT_FALSE(machine.check("/dev/sdb1"));
}

TEST(GuardCheck, AnOverlappingPartitionInUseIsOne) {
  Machine machine;
  machine.add_partition("sdb", "sdb1", makedev(8, 17), 1 << 20);
  machine.add_partition("sdb", "sdb5", makedev(8, 21), (1 << 20) + 4096);  // a BSD partition in its slice
  machine.write("proc/self/mountinfo", std::string(Machine::own_mounts) + "30 27 8:21 / /opt rw - ufs /dev/sdb5 rw\n");
  EXPECT_REFUSED(machine.check("/dev/sdb1", true), Reason::partition_mounted, "sdb5, which is mounted on /opt");
  machine.remove(Machine::sys("sdb") + "/sdb5/start");
  EXPECT_REFUSED(machine.check("/dev/sdb1", true), Reason::cannot_tell, "start");
}

TEST(GuardCheck, ExtendedPartition) {
  Machine machine;
  machine.kernel->devices["/dev/sdb1"].size_bytes = 1024;
  EXPECT_REFUSED(machine.check("/dev/sdb1", true), Reason::cannot_tell, "extended");
}

TEST(GuardCheck, AProcessThatMayNotBeLookedAt) {
  Machine machine;
  machine.write("proc/58/comm", "odd\n");
  machine.write("proc/58/fd", "");  // not a folder: an error that no process has
  machine.link("proc/58/ns/mnt", "mnt:[1]");
  EXPECT_REFUSED(machine.check("/dev/sdb", true), Reason::cannot_tell, "open files");
  if (geteuid() == 0) return;  // root reads everything
  Machine hidden;
  hidden.add_process("58", "hidden", Machine::own_mounts);
  fake::fs::permissions(hidden.folder() + "/proc/58/fd", fake::fs::no_perms);
  EXPECT_FALSE(hidden.check("/dev/sdb")) << "with the right to look at all";
  hidden.kernel->privileged = false;
  EXPECT_REFUSED(hidden.check("/dev/sdb", true), Reason::cannot_tell, "pid 58");
  fake::fs::permissions(hidden.folder() + "/proc/58/fd", fake::fs::owner_all);
}

TEST(GuardCheck, PartitionOfADiskInUseAsAWhole) {
  Machine machine;
  machine.write("proc/self/mountinfo", std::string(Machine::own_mounts) + "30 27 8:16 / /srv rw - xfs /dev/sdb rw\n");
  EXPECT_REFUSED(machine.check("/dev/sdb1"), Reason::parent_in_use, "part of the disk sdb, which is mounted on /srv");
  Machine held;
  held.write(Machine::sys("sdb") + "/holders/dm-3/dm/name", "vg-data\n");
  EXPECT_REFUSED(held.check("/dev/sdb1"), Reason::parent_in_use, "dm-3 (vg-data)");
}

TEST(GuardCheck, MountedInAnotherNamespace) {
  Machine machine;
  machine.add_process("77", "container", std::string(Machine::own_mounts) + "30 27 8:16 / /data rw - xfs /dev/sdb rw\n",
                      "mnt:[2]");
  EXPECT_REFUSED(machine.check("/dev/sdb"), Reason::mounted,
                 "mounted on /data in the mount namespace of pid 77 (container)");
  EXPECT_REFUSED(machine.check("/dev/sdb"), Reason::mounted, "/proc/77/mountinfo");
}

TEST(GuardCheck, OneChrootedProcessDoesNotSpeakForItsNamespace) {
  Machine machine;
  // pid 60 sees nothing from inside its root; pid 61 is in the same namespace and sees the mount.
  machine.add_process("60", "jailed", "30 27 254:0 /jail / rw - ext4 /dev/vda rw\n", "mnt:[2]");
  machine.kernel->add_file("/proc/60/root", S_IFDIR | 0755, makedev(254, 0), 99);
  machine.add_process("61", "free", std::string(Machine::own_mounts) + "30 27 8:16 / /data rw - xfs /dev/sdb rw\n",
                      "mnt:[2]");
  EXPECT_REFUSED(machine.check("/dev/sdb"), Reason::mounted, "pid 61");
}

TEST(GuardCheck, AnonymousDeviceNumberIsFoundByItsSource) {
  Machine machine;
  machine.write("proc/self/mountinfo", std::string(Machine::own_mounts) +
                                           "30 27 0:45 /sub /srv rw - btrfs /dev/disk/by-label/pool rw,subvol=/sub\n");
  machine.kernel->links["/dev/disk/by-label/pool"] = "/dev/sdb1";
  EXPECT_REFUSED(machine.check("/dev/sdb1"), Reason::mounted, "/srv");
  // A source that leads somewhere only from where the process stands.
  Machine inside;
  inside.add_process("77", "container", std::string(Machine::own_mounts) + "30 27 0:45 / /srv rw - btrfs /dev/own rw\n",
                     "mnt:[2]");
  inside.kernel->add_device("/proc/77/root/dev/own", makedev(8, 16));
  EXPECT_REFUSED(inside.check("/dev/sdb"), Reason::mounted, "pid 77");
}

TEST(GuardCheck, Swap) {
  Machine machine;
  machine.write("proc/swaps", "Filename Type Size Used Priority\n/dev/sdb1\\040x partition 100 0 -2\n");
  machine.kernel->links["/dev/sdb1 x"] = "/dev/sdb1";
  EXPECT_REFUSED(machine.check("/dev/sdb1"), Reason::swap, "in use as swap");
  EXPECT_REFUSED(machine.check("/dev/sdb"), Reason::swap, "has the partition sdb1");
  // No node of that name here: /sys knows the name.
  machine.write("proc/swaps", "Filename Type Size Used Priority\n/dev/elsewhere/sdb1 partition 100 0 -2\n");
  EXPECT_REFUSED(machine.check("/dev/sdb1"), Reason::cannot_tell, "swap area /dev/elsewhere/sdb1");
  machine.write("sys/class/block/sdb1/dev", "8:17\n");
  EXPECT_REFUSED(machine.check("/dev/sdb1"), Reason::swap, "in use as swap");
}

TEST(GuardCheck, Holders) {
  Machine machine;
  machine.write(Machine::sys("sdb") + "/holders/dm-0/dm/name", "luks-home\n");
  machine.write(Machine::sys("sdb") + "/holders/md0/md/level", "raid1\n");
  EXPECT_REFUSED(machine.check("/dev/sdb"), Reason::held, "held by dm-0 (luks-home), md0 (raid1)");
  Machine below;
  below.make_folder(Machine::sys("sdb") + "/sdb1/holders/dm-1");
  EXPECT_REFUSED(below.check("/dev/sdb", true), Reason::held, "partition sdb1, which is held by dm-1");
}

TEST(GuardCheck, MembersOfSetsInUse) {
  Machine machine;
  machine.make_folder("sys/fs/btrfs/features");
  machine.write("sys/fs/btrfs/1234-abcd/devices/sdb1/dev", "8:17\n");
  EXPECT_REFUSED(machine.check("/dev/sdb1"), Reason::member, "btrfs file system 1234-abcd");
  EXPECT_REFUSED(machine.check("/dev/sdb"), Reason::member, "has the partition sdb1");
  Machine cached;
  cached.make_folder(Machine::sys("sdb") + "/bcache");
  EXPECT_REFUSED(cached.check("/dev/sdb"), Reason::member, "bcache");
}

TEST(GuardCheck, TwoLoopDevicesOnOneFile) {
  Machine machine;
  machine.add_loop(1, "/img/a", 500);
  machine.add_loop(2, "/img/hard link to a", 500);
  machine.add_loop(3, "/img/b", 501);
  EXPECT_REFUSED(machine.check("/dev/loop1"), Reason::loop_in_use, "/dev/loop2");
  EXPECT_FALSE(machine.check("/dev/loop3"));
  machine.kernel->loops["/dev/loop2"].error = EACCES;
  EXPECT_REFUSED(machine.check("/dev/loop3"), Reason::cannot_tell, "/dev/loop2");
  machine.kernel->loops["/dev/loop2"].error = ENXIO;  // detached meanwhile
  EXPECT_FALSE(machine.check("/dev/loop3"));
}

TEST(GuardCheck, LoopOverABlockDevice) {
  Machine machine;
  machine.add_loop(1, "/dev/sdb1", 700, makedev(8, 17));
  EXPECT_REFUSED(machine.check("/dev/sdb1"), Reason::loop_in_use, "carries the loop device /dev/loop1");
  EXPECT_REFUSED(machine.check("/dev/sdb"), Reason::loop_in_use, "has the partition sdb1");
  EXPECT_FALSE(machine.check("/dev/loop1")) << "its device is in nobody else's use";
  // What the device below is used for is what the loop device would destroy.
  machine.write("proc/self/mountinfo", std::string(Machine::own_mounts) + "30 27 8:17 / /srv rw - xfs /dev/sdb1 rw\n");
  EXPECT_REFUSED(machine.check("/dev/loop1"), Reason::mounted, "stands on sdb1, which is mounted on /srv");
  machine.write("proc/self/mountinfo", Machine::own_mounts);
  machine.write("proc/swaps", "Filename Type Size Used Priority\n/dev/sdb1 partition 100 0 -2\n");
  EXPECT_REFUSED(machine.check("/dev/loop1"), Reason::swap, "stands on sdb1");
  machine.write("proc/swaps", "Filename Type Size Used Priority\n");
  machine.kernel->errors[{"/dev/sdb1", O_RDONLY | O_EXCL}] = EBUSY;
  EXPECT_REFUSED(machine.check("/dev/loop1"), Reason::busy, "stands on sdb1");
}

TEST(GuardCheck, ResultsAndSystem) {
  Machine machine;
  machine.kernel->add_file("/srv", S_IFDIR | 0755, makedev(8, 17), 9);
  const Guard guard = machine.guard(true, {"/srv/results/not/yet/there"});
  EXPECT_REFUSED(guard.check(guard.resolve("/dev/sdb1")), Reason::holds_results, "/srv/results/not/yet/there");
  EXPECT_REFUSED(guard.check(guard.resolve("/dev/sdb")), Reason::holds_results, "has the partition sdb1");
  EXPECT_REFUSED(guard.check(guard.resolve("/dev/vda")), Reason::holds_system, "running system");
  // btrfs: the file's own device number is anonymous, the mount's source tells
  Machine anonymous;
  anonymous.kernel->add_file("/srv/results", S_IFDIR | 0755, makedev(0, 99), 9);
  anonymous.write("proc/self/mountinfo",
                  std::string(Machine::own_mounts) + "30 27 0:45 / /srv rw - btrfs /dev/sdb1 rw\n");
  const Guard other = anonymous.guard(false, {"/srv/results"});
  EXPECT_REFUSED(other.check(other.resolve("/dev/sdb1")), Reason::holds_results, "mounted on /srv");
}

TEST(GuardCheck, ZfsPools) {
  Machine machine;
  machine.kernel->written["/dev/sdb1"] = {{"zfs_member", "raid", "tank", "123"}};
  machine.make_folder("proc/spl/kstat/zfs/rpool");
  machine.write("proc/spl/kstat/zfs/arcstats", "");
  EXPECT_REFUSED(machine.check("/dev/sdb1"), Reason::signature, "zfs_member");
  machine.make_folder("proc/spl/kstat/zfs/tank");
  EXPECT_REFUSED(machine.check("/dev/sdb1", true), Reason::zpool, "ZFS pool tank");
  EXPECT_REFUSED(machine.check("/dev/sdb", true), Reason::zpool, "has the partition sdb1");
  machine.remove("proc/spl");
  EXPECT_FALSE(machine.check("/dev/sdb1", true));
  machine.kernel->written["/dev/sdb1"][0].label = "";  // a spare
  machine.make_folder("proc/spl/kstat/zfs/rpool");
  EXPECT_REFUSED(machine.check("/dev/sdb1", true), Reason::zpool, "a ZFS pool");
  machine.remove("proc/spl");
  machine.add_process("300", "zfs-fuse", Machine::own_mounts);
  EXPECT_REFUSED(machine.check("/dev/sdb1", true), Reason::zpool, "pid 300");
}

TEST(GuardCheck, ClaimedByNobodyKnowsWhom) {
  Machine machine;
  machine.kernel->errors[{"/dev/sdb", O_RDONLY | O_EXCL}] = EBUSY;
  EXPECT_REFUSED(machine.check("/dev/sdb", true), Reason::busy, "EBUSY");
  machine.add_opener("41", "udev-worker", machine.kernel->nodes["/dev/sdb"], O_RDONLY);
  EXPECT_REFUSED(machine.check("/dev/sdb"), Reason::busy, "pid 41 (udev-worker: descriptor 5)");
  machine.kernel->errors.clear();
  EXPECT_FALSE(machine.check("/dev/sdb")) << "a reader without a claim does no harm";
}

TEST(GuardCheck, OpenForWritingWithoutAClaim) {
  Machine machine;
  machine.add_opener("42", "qemu", machine.kernel->nodes["/dev/sdb1"], O_RDWR);
  EXPECT_REFUSED(machine.check("/dev/sdb1", true), Reason::busy, "pid 42 (qemu");
  EXPECT_REFUSED(machine.check("/dev/sdb", true), Reason::busy, "pid 42 (qemu");
  // The image behind a loop device
  Machine image;
  image.add_loop(1, "/img/a", 500);
  NodeStat file{.error = 0, .mode = S_IFREG | 0600, .device = makedev(254, 0), .inode = 500, .rdev = 0};
  image.add_opener("43", "qemu", file, O_RDWR);
  EXPECT_REFUSED(image.check("/dev/loop1"), Reason::busy, "pid 43");
}

TEST(GuardCheck, Signatures) {
  Machine machine;
  machine.kernel->written["/dev/sdb"] = {{"xfs", "filesystem", "da\nta", "11-22"},
                                         {"dos", "partition table", "", "abcd"}};
  EXPECT_REFUSED(machine.check("/dev/sdb"), Reason::signature, "xfs file system, label \"da\\x0ata\", UUID 11-22");
  EXPECT_REFUSED(machine.check("/dev/sdb"), Reason::signature, "partition table (dos)");
  EXPECT_REFUSED(machine.check("/dev/sdb"), Reason::signature, "--destroy");
  EXPECT_FALSE(machine.check("/dev/sdb", true));
  machine.kernel->written["/dev/sdb"] = {{"ext4", "filesystem", "mongo", "6d6f6e67-6f2d-8123-9234-0123456789ab"}};
  EXPECT_FALSE(machine.check("/dev/sdb"));
  machine.kernel->unreadable = "/dev/sdb";
  EXPECT_REFUSED(machine.check("/dev/sdb"), Reason::cannot_tell, "Input/output error");
  EXPECT_REFUSED(machine.check("/dev/sdb", true), Reason::cannot_tell, "Input/output error");
}

TEST(GuardCheck, DataOfNoKnownKind) {
  Machine machine;
  machine.kernel->data["/dev/sdb"] = 512;
  EXPECT_REFUSED(machine.check("/dev/sdb"), Reason::signature, "holds data of no known kind (first at byte 512)");
  EXPECT_REFUSED(machine.check("/dev/sdb"), Reason::signature, "--destroy");
  EXPECT_EQ(machine.kernel->looks_for_data, 2);
  EXPECT_FALSE(machine.check("/dev/sdb", true));
  machine.kernel->written["/dev/sdb"] = {{"ext4", "filesystem", "mongo", "6d6f6e67-6f2d-8123-9234-0123456789ab"}};
  EXPECT_FALSE(machine.check("/dev/sdb"));
  machine.kernel->written["/dev/sdb"] = {{"xfs", "filesystem", "", "11-22"}};
  EXPECT_REFUSED(machine.check("/dev/sdb"), Reason::signature, "xfs");
  EXPECT_EQ(machine.kernel->looks_for_data, 2) << "not read where the answer is known without";
  Machine broken;
  broken.kernel->unreadable_data = "/dev/sdb";
  EXPECT_REFUSED(broken.check("/dev/sdb"), Reason::cannot_tell, "Input/output error");
  EXPECT_FALSE(broken.check("/dev/sdb", true));
}

TEST(GuardCheck, RequireThrowsTheRefusal) {
  Machine machine;
  machine.kernel->written["/dev/sdb"] = {{"xfs", "filesystem", "", ""}};
  const Guard guard = machine.guard();
  try {
    guard.require(guard.resolve("/dev/sdb"));
    FAIL();
  } catch (const DeviceRefused& error) {
    EXPECT_EQ(error.status(), ExitStatus::device_refused);
    EXPECT_NE(std::string(error.what()).find("xfs"), std::string::npos);
  }
  EXPECT_NO_THROW(machine.guard(true).require(guard.resolve("/dev/sdb")));
}

TEST(GuardCheck, ANameThatLeadsElsewhereMeanwhile) {
  Machine machine;
  const Guard guard = machine.guard();
  const BlockDevice device = guard.resolve("/dev/sdb");
  machine.kernel->add_device("/dev/sdb", makedev(254, 0));
  EXPECT_REFUSED(guard.check(device), Reason::cannot_tell, "was 8:16");
}

// Everything that should be readable and is not, is a refusal, also with destroy.
class FailsClosed : public testing::TestWithParam<const char*> {};

TEST_P(FailsClosed, WithoutTheFile) {
  Machine machine;
  machine.remove(GetParam());
  const Guard guard = machine.guard(true);
  EXPECT_REFUSED(guard.check(guard.resolve("/dev/sdb")), Reason::cannot_tell, "cannot be");
}

INSTANTIATE_TEST_SUITE_P(Missing, FailsClosed,
                         testing::Values("proc/self", "proc", "sys", "sys/dev/block/8:16",
                                         "sys/devices/virtual/block/sdb/ro", "sys/devices/virtual/block/sdb/holders",
                                         "sys/devices/virtual/block/sdb/sdb1/dev", "sys/devices/virtual/block/sdb/dev",
                                         "sys/block", "proc/self/ns"));

TEST(GuardCheck, LinesThatCannotBeReadFailClosed) {
  Machine machine;
  machine.write("proc/self/mountinfo", std::string(Machine::own_mounts) + "30 27 8:x / /srv rw - xfs /dev/sdc rw\n");
  EXPECT_REFUSED(machine.check("/dev/sdb", true), Reason::cannot_tell, "8:x");
  Machine swaps;
  swaps.write("proc/swaps", "Filename Type Size Used Priority\nnonsense\n");
  EXPECT_REFUSED(swaps.check("/dev/sdb", true), Reason::cannot_tell, "nonsense");
  Machine btrfs;
  btrfs.make_folder("sys/fs/btrfs/12/devices/sdc");
  EXPECT_REFUSED(btrfs.check("/dev/sdb", true), Reason::cannot_tell, "sdc");
}

TEST(GuardCheck, EndedProcessesArePassedOver) {
  Machine machine;
  machine.make_folder("proc/55");                          // nothing left of it
  machine.link("proc/56/ns/mnt", "mnt:[3]");               // ended between two looks
  machine.add_process("57", "late", Machine::own_mounts);  // without descriptors
  machine.remove("proc/57/fd");
  EXPECT_FALSE(machine.check("/dev/sdb")) << machine.check("/dev/sdb")->text();
}

}  // namespace
}  // namespace mongo
