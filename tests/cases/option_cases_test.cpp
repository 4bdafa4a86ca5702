// Field cases about options of mkfs and mount, and about what older file systems leave on a device.
#include "tests/cases/mongo_fixture.h"

namespace mongo {
namespace {

using test::Json;
using test::MiB;

class OptionCases : public test::MongoTest {
 protected:
  /// What mount(8) says to the option, on a file system made by hand.
  bool kernel_takes(const std::string& type, const std::string& option) {
    const std::string node = device(320 * MiB), where = path("by_hand");
    const bool dash_f = type == "xfs" || type == "btrfs";
    bool made = false, taken = false;
    // Again, because others on the machine open every device exclusively for a moment.
    for (int i = 0; i < 5 && !made; ++i) made = test::run({"mkfs." + type, dash_f ? "-f" : "-F", "-q", node}).ok();
    EXPECT_TRUE(made);
    test::fs::create_directories(where);
    for (int i = 0; i < 3 && !taken; ++i) taken = test::run({"mount", "-t", type, "-o", option, node, where}).ok();
    if (taken) {
      EXPECT_TRUE(test::run({"umount", where}).ok());
    }
    release(node);
    test::fs::remove(path("disk" + std::to_string(devices_.size()) + ".img"));
    return taken;
  }
};

TEST_F(OptionCases, AnOptionIsValidIfTheKernelTakesIt) {
  const std::string node = device(320 * MiB);
  const std::pair<const char*, const char*> cases[] = {
      {"xfs", "noatime"},     {"xfs", "nobarrier"},      {"xfs", "noatime,delaylog"}, {"btrfs", "compress=bogus"},
      {"ext3", "extents"},    {"ext2", "nobarrier"},     {"btrfs", "nobarrier"},      {"ext2", "data=writeback"},
      {"ext4", "nodelalloc"}, {"btrfs", "compress=zstd"}};
  int good = 0, bad = 0;
  for (const auto& [type, option] : cases) {
    const bool taken = kernel_takes(type, option);
    ++(taken ? good : bad);
    const CommandResult result =
        mongo_run(type, node, {"--profile", "smoke", "--phases", "create", "--mount-options", option});
    const Json record = last_record();
    EXPECT_EQ(result.exit_status, taken ? 0 : 1) << type << " " << option << ": " << result.err;
    EXPECT_EQ(record.at("status"), taken ? "ok" : "failed") << type << " " << option;
    EXPECT_EQ(record.at("mount").at("requested"), option);
    if (!taken) {
      EXPECT_NE(result.err.find("mount: "), std::string::npos) << result.err;
      EXPECT_NE(result.err.find(option), std::string::npos) << result.err;
      for (const Json& pass : record.at("passes")) EXPECT_TRUE(pass.at("phases").empty()) << pass;
    }
    expect_nothing_left();
    EXPECT_FALSE(test::fs::exists(point()));
  }
  EXPECT_GE(good, 3);
  EXPECT_GE(bad, 1);
}

TEST_F(OptionCases, RequestedAndEffectiveOptions) {
  if (!kernel_takes("ext3", "barrier=0,noload")) GTEST_SKIP() << "this kernel does not take barrier=0,noload";
  ASSERT_EQ(mongo_run("ext3", "ram:64MiB", {"--profile", "smoke", "--mount-options", "barrier=0,noload"}).exit_status,
            0);
  const Json mount = last_record().at("mount");
  EXPECT_EQ(mount.at("requested"), "barrier=0,noload");
  const std::string effective = mount.at("effective");
  EXPECT_NE(effective.find("nobarrier"), std::string::npos) << effective;
  EXPECT_NE(effective.find("norecovery"), std::string::npos) << effective;
}

/// mkfs.ext3 makes a journal all the same (measured with 1.47.0). Where another one does not, the run fails: it must
/// not become a benchmark of ext2.
TEST_F(OptionCases, Ext3WithoutAJournalIsNoExt3) {
  const std::string node = device(64 * MiB);
  const CommandResult result = mongo_run("ext3", node, {"--profile", "smoke", "--mkfs-options", "-O ^has_journal"});
  if (result.exit_status == 0) {
    const CommandResult made = test::run({"blkid", "-p", node});
    EXPECT_NE(made.out.find("TYPE=\"ext3\""), std::string::npos) << made.out;
    return;
  }
  EXPECT_EQ(result.exit_status, 1) << result.err;
  EXPECT_NE(result.err.find("mount: "), std::string::npos) << result.err;
  EXPECT_EQ(last_record().at("status"), "failed");
  const Json passes = last_record().at("passes");
  for (const Json& pass : passes) EXPECT_TRUE(pass.at("phases").empty()) << pass;
  expect_nothing_left();
}

/// A file system that the kernel cannot mount as the type that was asked for.
TEST_F(OptionCases, Ext3WithFeaturesOfExt4IsNoExt3) {
  const std::string node = device(64 * MiB);
  const CommandResult result = mongo_run("ext3", node, {"--profile", "smoke", "--mkfs-options", "-O extent"});
  EXPECT_EQ(result.exit_status, 1) << result.err;
  EXPECT_NE(result.err.find("mount: "), std::string::npos) << result.err;
  EXPECT_EQ(last_record().at("status"), "failed");
  const Json passes = last_record().at("passes");
  for (const Json& pass : passes) EXPECT_TRUE(pass.at("phases").empty()) << pass;
  expect_nothing_left();
}

TEST_F(OptionCases, MkfsOptionsThatReachBeyondTheDevice) {
  const std::string node = device(64 * MiB), other = device(64 * MiB);
  ASSERT_TRUE(test::run({"mkfs.ext4", "-Fq", "-O", "journal_dev", "-b", "4096", "-L", "fuzzjournal", other}).ok());
  const std::string before = fingerprint(node), before_other = fingerprint(other);
  for (const std::string& options :
       {"-J device=" + other, "-Jdevice=" + other, "-J device=" + other.substr(1),
        std::string("-J device=LABEL=fuzzjournal"), std::string("-J device=UUID=6d6f6e67-6f2d-8000-8000-000000000002"),
        "-z " + path("undo"), std::string("-z undo"), "-d " + folder_, "-- " + other, other}) {
    const CommandResult result = mongo_run("ext4", node, {"--profile", "smoke", "--mkfs-options", options});
    EXPECT_EQ(result.exit_status, 2) << options << ": " << result.err;
    EXPECT_NE(result.err.find("--mkfs-options"), std::string::npos) << result.err;
    ASSERT_TRUE(fingerprint(node) == before) << options;
    ASSERT_TRUE(fingerprint(other) == before_other) << options;
  }
}

/// What libblkid takes for a pool member: four uberblocks in the rings of the labels (superblocks/zfs.c).
void write_zfs_labels_at_the_end(const std::string& node, std::uint64_t size) {
  const int fd = open(node.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  const std::uint64_t uberblock[2] = {0x00bab10c, 5000};
  for (std::uint64_t label = size - 512 * 1024; label < size; label += 256 * 1024) {
    for (std::uint64_t i = 0; i < 128; ++i) {
      const auto offset = static_cast<off_t>(label + 128 * 1024 + i * 1024);
      ASSERT_EQ(pwrite(fd, uberblock, sizeof uberblock, offset), static_cast<ssize_t>(sizeof uberblock));
    }
  }
  close(fd);
}

TEST_F(OptionCases, LeftoverZfsLabels) {
  const std::string node = device(64 * MiB);
  write_zfs_labels_at_the_end(node, 64 * MiB);
  ASSERT_NE(test::run({"blkid", "-p", node}).out.find("zfs_member"), std::string::npos);
  const std::string before = fingerprint(node);
  expect_refusal(mongo_run("ext4", node), 3, {node, "zfs_member", "--destroy"});
  EXPECT_TRUE(fingerprint(node) == before);
  const CommandResult result = mongo_run("ext4", node, {"--profile", "smoke", "--destroy"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(last_record().at("device").at("destroyed").at(0).at("type"), "zfs_member");
  const CommandResult seen = test::run({"blkid", "-p", node});
  EXPECT_EQ(seen.exit_status, 0) << "ambivalent: " << seen.err;
  EXPECT_NE(seen.out.find("TYPE=\"ext4\""), std::string::npos) << seen.out;
  EXPECT_EQ(test::run({"wipefs", "--noheadings", node}).out.find("zfs"), std::string::npos);
  EXPECT_EQ(mongo_run("ext4", node, {"--profile", "smoke"}).exit_status, 0) << "its own by now";
}

}  // namespace
}  // namespace mongo
