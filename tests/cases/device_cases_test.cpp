// Field cases about devices and mount points: the wrong device, and what people have on it.
#include <sys/sysmacros.h>

#include "fsdrivers/catalogue.h"
#include "harness/core/errors.h"
#include "harness/plan/mkfs_options.h"
#include "harness/plan/words.h"
#include "tests/cases/mongo_fixture.h"

namespace mongo {
namespace {

using test::MiB;
using test::fs::exists;

class DeviceCases : public test::MongoTest {
 protected:
  void make(const std::string& type, const std::string& node) {
    const bool dash_f = type == "xfs" || type == "btrfs";
    ASSERT_TRUE(test::run({"mkfs." + type, dash_f ? "-f" : "-F", "-q", node}).ok());
  }
};

TEST_F(DeviceCases, MountedUnderAnotherName) {
  const std::string node = device(320 * MiB);
  make("xfs", node);
  mount(node, path("elsewhere"));
  const std::string before = fingerprint(node);
  test::fs::create_symlink(node, path("link1"));
  test::fs::create_symlink("link1", path("link2"));
  struct stat info {};
  ASSERT_EQ(stat(node.c_str(), &info), 0);
  ASSERT_EQ(mknod(path("alias").c_str(), S_IFBLK | 0600, info.st_rdev), 0);
  for (const std::string& name : {node, path("link2"), path("alias")}) {
    expect_refusal(mongo_run("ext3", name, {"--destroy"}), 3, {name, path("elsewhere")});
  }
  EXPECT_EQ(fingerprint(node), before);
}

TEST_F(DeviceCases, ActiveSwap) {
  const std::string node = device(64 * MiB);
  ASSERT_TRUE(test::run({"mkswap", node}).ok());
  if (!test::run({"swapon", node}).ok()) GTEST_SKIP() << "this kernel takes no swap on loop devices";
  const std::string before = fingerprint(node);
  expect_refusal(mongo_run("ext3", node, {"--destroy"}), 3, {node, "swap"});
  EXPECT_NE(slurp("/proc/swaps").find(node), std::string::npos) << "still active";
  EXPECT_TRUE(test::run({"swapoff", node}).ok());
  EXPECT_EQ(fingerprint(node), before);
}

TEST_F(DeviceCases, PartitionTable) {
  const std::string node = device(512 * MiB);
  std::string sector(512, '\0');
  sector[446 + 4] = '\x83';
  sector[446 + 8] = 64;       // first sector
  sector[446 + 12] = '\x40';  // length
  sector[446 + 13] = '\x0d';
  sector[510] = '\x55';
  sector[511] = '\xaa';
  {
    const int fd = open(node.c_str(), O_WRONLY | O_CLOEXEC);
    ASSERT_EQ(pwrite(fd, sector.data(), sector.size(), 0), 512);
    close(fd);
  }
  const std::string before = fingerprint(node);
  for (const char* type : {"ext2", "ext3", "ext4", "xfs", "btrfs"}) {
    expect_refusal(mongo_run(type, node), 3, {node, "partition table", "dos", "--destroy"});
  }
  EXPECT_EQ(fingerprint(node), before);
  const CommandResult forced = mongo_run("ext4", node, {"--destroy", "--profile", "smoke"});
  EXPECT_EQ(forced.exit_status, 0) << forced.err;
  EXPECT_EQ(last_record().at("device").at("destroyed").at(0).at("type"), "dos");
}

TEST_F(DeviceCases, ExistingFileSystem) {
  const std::string node = device(512 * MiB);
  const std::pair<const char*, const char*> pairs[] = {
      {"xfs", "ext3"}, {"ext4", "xfs"}, {"btrfs", "ext2"}, {"ext2", "btrfs"}};
  for (const auto& [there, asked] : pairs) {
    make(there, node);
    const std::string before = fingerprint(node);
    expect_refusal(mongo_run(asked, node), 3, {node, there, "UUID", "--destroy"});
    // A terminal changes nothing.
    const CommandResult typed = test::run(
        {"script", "-qec",
         std::string(MONGO_PROGRAM) + " run " + asked + " " + node + " " + point() + " log 1 --results " + results(),
         "/dev/null"},
        std::chrono::seconds(20));
    EXPECT_EQ(typed.exit_status, 3) << typed.out;
    EXPECT_EQ(fingerprint(node), before);
    EXPECT_TRUE(test::run({"wipefs", "-aq", node}).ok());
  }
}

TEST_F(DeviceCases, WhatItMadeItselfIsFormattedWithoutAQuestion) {
  const std::string node = device(512 * MiB);
  for (const char* type : {"ext2", "ext3", "ext4", "xfs", "btrfs", "ext3"}) {
    const CommandResult result = mongo_run(type, node, {"--profile", "smoke"});
    EXPECT_EQ(result.exit_status, 0) << type << ": " << result.err;
  }
  EXPECT_EQ(records().size(), 6U);
  EXPECT_EQ(last_record().at("device").at("destroyed").at(0).at("type"), "btrfs");
}

TEST_F(DeviceCases, TheLabelAloneIsNoProof) {
  const std::string node = device(64 * MiB);
  ASSERT_TRUE(test::run({"mkfs.ext4", "-F", "-q", "-L", "mongo", node}).ok());
  const std::string before = fingerprint(node);
  expect_refusal(mongo_run("ext3", node), 3, {"mongo", "--destroy"});
  EXPECT_EQ(fingerprint(node), before);
}

TEST_F(DeviceCases, NoBlockDevice) {
  const std::string file = image("disk.img", 64 * MiB);
  expect_refusal(mongo_run("ext3", file), 3, {file, "regular file", "loop:"});
  expect_refusal(mongo_run("ext3", "/dev/null"), 3, {"/dev/null", "character device"});
  expect_refusal(mongo_run("ext3", folder_), 3, {folder_, "directory"});
  expect_refusal(mongo_run("ext3", "/dev/nope"), 3, {"/dev/nope", "does not exist"});
  expect_refusal(mongo_run("ext3", ""), 2, {"DEVICE is empty"});
  EXPECT_EQ(test::run({"blkid", "-p", file}).exit_status, 2) << "nothing was written";
}

TEST_F(DeviceCases, ReadOnlyDevice) {
  const std::string node = device(320 * MiB, {"-r"});
  for (const char* type : {"ext4", "xfs", "btrfs"}) {
    expect_refusal(mongo_run(type, node), 3, {node, "read-only"});
  }
}

TEST_F(DeviceCases, TooSmallForTheFileSystem) {
  const std::tuple<const char*, std::uint64_t, const char*> sizes[] = {
      {"xfs", 299 * MiB, "300MB"}, {"btrfs", 108 * MiB, "minimum size"}, {"ext2", 65536, "mkfs.ext2"}};
  for (const auto& [type, size, words] : sizes) {
    const std::string node = device(size);
    const CommandResult result = mongo_run(type, node, {"--profile", "smoke"});
    EXPECT_EQ(result.exit_status, 1);
    EXPECT_NE(result.err.find("mkfs: failed with exit status 1"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
    EXPECT_LT(result.err.size() - result.err.rfind("mongo: "), 600U) << "one useful line and not the usage";
    EXPECT_EQ(last_record().at("status"), "failed");
    EXPECT_TRUE(last_record().at("passes").empty());
    expect_nothing_left();
  }
}

TEST_F(DeviceCases, SmallestSizeThatMkfsTakesIsTaken) {
  const CommandResult result = mongo_run("xfs", device(300 * MiB), {"--profile", "smoke"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
}

TEST_F(DeviceCases, MountFails) {
  const std::string node = device(320 * MiB);
  for (const char* type : {"ext2", "ext3", "ext4", "xfs", "btrfs"}) {
    const CommandResult result = mongo_run(type, node, {"--mount-options", "bogus=1", "--profile", "smoke"});
    EXPECT_EQ(result.exit_status, 1);
    EXPECT_NE(result.err.find("mount: "), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("bogus=1"), std::string::npos) << result.err;
    EXPECT_FALSE(exists(point())) << "made by the run, removed again, and empty until then";
    expect_nothing_left();
  }
}

TEST_F(DeviceCases, KernelCannotMountIt) {
  const std::string node = device(64 * MiB);
  const std::string before = fingerprint(node);
  for (const char* type : {"reiserfs", "jfs", "nilfs2"}) {
    if (slurp("/proc/filesystems").find(std::string("\t") + type + "\n") != std::string::npos) continue;
    const CommandResult result = mongo_run(type, node, {"--environment", "host"});
    EXPECT_EQ(result.exit_status, 4) << result.err;
    EXPECT_NE(result.err.find(type), std::string::npos);
    EXPECT_TRUE(fingerprint(node) == before);
  }
}

TEST_F(DeviceCases, MountPoint) {
  const std::string node = device(320 * MiB);
  const std::string before = fingerprint(node);

  test::fs::create_directories(point());
  std::ofstream(point() + "/keep") << "kept";
  expect_refusal(mongo_run("ext3", node), 3, {point(), "not empty", "keep"});
  EXPECT_EQ(slurp(point() + "/keep"), "kept");
  test::fs::remove(point() + "/keep");

  mount("tmpfs", point(), {"-t", "tmpfs"});
  CommandResult mounted = mongo_run("ext3", node);
  EXPECT_EQ(mounted.exit_status, 3);
  EXPECT_NE(mounted.err.find("mount"), std::string::npos) << mounted.err;
  EXPECT_NE(slurp("/proc/self/mountinfo").find(point()), std::string::npos) << "the tmpfs stays mounted";
  unmount(point());
  test::fs::remove(point());

  std::ofstream(point()) << "a file";
  expect_refusal(mongo_run("ext3", node), 3, {point(), "file"});
  test::fs::remove(point());

  EXPECT_EQ(fingerprint(node), before);
  // Missing: made, and removed afterwards.
  const CommandResult result = mongo_run("ext3", node, {"--profile", "smoke"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_FALSE(exists(point()));
}

TEST_F(DeviceCases, ExistingMountPointStays) {
  test::fs::create_directories(point());
  EXPECT_EQ(mongo_run("ext3", "ram:64MiB", {"--profile", "smoke"}).exit_status, 0);
  EXPECT_TRUE(exists(point()));
}

TEST_F(DeviceCases, WithoutASignatureItIsNotBlank) {
  std::ofstream(path("notes")) << "To do: pay the rent.\n";
  ASSERT_TRUE(test::run({"tar", "-C", folder_, "-cf", path("archive"), "notes"}).ok());
  const std::string node = device(64 * MiB);
  const auto write = [&](const std::string& bytes, std::uint64_t at) {
    const int fd = open(node.c_str(), O_WRONLY | O_CLOEXEC);
    EXPECT_EQ(pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(at)), static_cast<ssize_t>(bytes.size()));
    close(fd);
  };
  const std::pair<std::string, std::uint64_t> cases[] = {{slurp(path("archive")), 0},
                                                         {slurp(path("notes")), 0},
                                                         {std::string(4096, 'x'), 32 * MiB},
                                                         {std::string(512, 'x'), 64 * MiB - 512}};
  for (const auto& [bytes, at] : cases) {
    write(bytes, at);
    const std::string before = fingerprint(node);
    const std::string where = "no known kind (first at byte " + std::to_string(at) + ")";
    expect_refusal(mongo_run("ext4", node), 3, {node, where, "--destroy"});
    const CommandResult dry = mongo_run("ext4", node, {"--dry-run"});
    EXPECT_EQ(dry.exit_status, 3);
    EXPECT_NE(dry.err.find(where), std::string::npos) << dry.err;
    EXPECT_EQ(fingerprint(node), before);
    EXPECT_EQ(mongo_run("ext4", node, {"--destroy", "--profile", "smoke"}).exit_status, 0);
    test::fs::remove_all(results());
    // Blank again, but for the next case.
    ASSERT_TRUE(test::run({"blkdiscard", "-z", node}).ok());
  }
}

TEST_F(DeviceCases, AfterAFailedMkfsTheDeviceIsAcceptedAgain) {
  const std::string node = device(512 * MiB);
  EXPECT_EQ(mongo_run("xfs", node, {"--profile", "smoke"}).exit_status, 0);
  EXPECT_EQ(mongo_run("ext4", node, {"--profile", "smoke", "--mkfs-options", "-O bogus"}).exit_status, 1);
  EXPECT_EQ(mongo_run("btrfs", node, {"--profile", "smoke"}).exit_status, 0);
}

TEST_F(DeviceCases, DryRunOfAnImageTellsWhatARunWould) {
  const std::string file = image("mine.img", 64 * MiB);
  const auto both = [&](int status, const std::string& words) {
    for (const char* option : {"--dry-run", "--quiet"}) {
      const CommandResult result = mongo_run("ext4", "loop:" + file, {option, "--profile", "smoke"});
      EXPECT_EQ(result.exit_status, status) << option << result.err;
      EXPECT_NE(result.err.find(words), std::string::npos) << option << result.err;
    }
  };
  make("ext2", file);
  both(3, "carries ext2 file system");
  ASSERT_TRUE(test::run({"wipefs", "-aq", file}).ok());
  both(3, "holds data of no known kind");
  test::fs::resize_file(file, 0);
  both(3, "less than one sector");
  test::fs::resize_file(file, 64 * MiB);
  both(0, "");
  test::fs::remove(file);
  both(3, "does not exist");
  const CommandResult large = mongo_run("ext4", "ram:1000000GiB", {"--dry-run"});
  EXPECT_EQ(large.exit_status, 1);
  EXPECT_NE(large.err.find("do not fit into memory"), std::string::npos) << large.err;
}

TEST_F(DeviceCases, WithoutACurrentDirectory) {
  const std::string node = device(64 * MiB), gone = path("gone");
  test::fs::create_directories(gone);
  const CommandResult result =
      test::run({"sh", "-c", R"(cd "$1" && rmdir "$1" && shift && exec "$@")", "sh", gone, MONGO_PROGRAM, "run", "ext4",
                 node, point(), "log", "1", "--results", results(), "--profile", "smoke"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
}

TEST(MkfsOptions, OfEachFileSystem) {
  const auto verdict = [](const char* filesystem, const std::string& text) {
    const fsdrivers::FilesystemDriver& driver = *fsdrivers::find(filesystem);
    try {
      check_mkfs_options({driver.name, driver.mkfs_options, driver.refused_mkfs_suboptions}, split_words(text));
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const std::pair<const char*, std::vector<const char*>> good[] = {
      {"ext3",
       {"", "-N 400000", "-N400 -m0", "-b 4096 -I 256 -i 8192", "-O ^has_journal,dir_index", "-J size=64", "-jc",
        "-E stride=16,stripe_width=64,nodiscard -T small", "-b -1024", "-e remount-ro -g 8192 -G 16"}},
      {"ext4", {"-E lazy_itable_init=1 -O bigalloc -C 65536", "-K -D -J size=8,fast_commit_size=64"}},
      {"xfs",
       {"-m crc=1,reflink=0 -i size=512,maxpct=5", "-d agcount=4,su=64k,sw=2 -l size=64m,version=2,su=32k", "-K",
        "-b size=1024 -n size=8192,ftype=1 -s size=4096", "-r extsize=64k", "-dagcount=8"}},
      {"btrfs",
       {"-m dup -d single -n 16384 -s 4096", "--metadata=single --nodesize 32k -KM", "-O no-holes -R quota",
        "--csum xxhash -b 1g", "--nodiscard --mixed"}},
      {"reiserfs", {"-b 4096 -h r5", "--hash=tea -s 8193 --transaction-max-size 512", "-hrupasov"}},
      {"f2fs", {"-a 0 -t1"}}};
  for (const auto& [filesystem, texts] : good) {
    for (const char* text : texts) EXPECT_EQ(verdict(filesystem, text), "accepted") << filesystem;
  }
  const std::pair<const char*, std::vector<const char*>> bad[] = {
      {"ext3",
       {"-J device=LABEL=extj", "-Jdevice=UUID=1-2", "-J size=4,device=extj", "-O journal_dev", "-O FEATURE_I3",
        "-E offset=1048576", "-E stride=4,offset=4", "-z undofile", "-zundo", "-d dir", "-l badblocks"}},
      {"ext4",
       {"-L x", "-U random", "-F", "-q", "-n", "-S", "-V", "-jn", "-t ext4", "-r 0", "-M x", "400000", "-N",
        "-- -N 4"}},
      {"xfs",
       {"-p proto", "-c options=x", "-l logdev=x", "-l size=64m,logdev=LABEL=x", "-d name=x", "-d file=1,name=x",
        "-r rtdev=x", "-r file", "-N", "-f", "-q", "-L x", "-m uuid=1-2", "-V", "--version", "-C", "x", "-d"}},
      {"btrfs",
       {"-r dir", "--rootdir dir", "--rootdir=dir", "--root=dir", "--shrink", "-f", "--force", "-L x", "--label=x",
        "-U 1-2", "-V", "--help", "-O list-all", "-R list-all", "sdb", "-m raid1 sdb", "--device-uuid 1"}},
      {"reiserfs",
       {"-j sdb", "--journal-device=sdb", "-B bad", "-l x", "-u 1-2", "-V", "-f", "-q", "--format 3.5", "4000",
        "-h bogus", "--hash=R5", "-h tea,r5"}},
      {"f2fs", {"-a 2", "-tx"}}};
  for (const auto& [filesystem, texts] : bad) {
    for (const char* text : texts)
      EXPECT_NE(verdict(filesystem, text).find("--mkfs-options: '"), std::string::npos) << filesystem << " " << text;
  }
}

TEST_F(DeviceCases, MkfsMayNotNameAnotherDevice) {
  const std::string node = device(320 * MiB), other = device(320 * MiB);
  const std::string before = fingerprint(node), other_before = fingerprint(other);
  for (const std::string& options : {other, "-J device=" + other, "-l logdev=" + other, "-d name=" + other,
                                     "-d" + other, std::string("-- /etc/passwd"), path("disk0.img")}) {
    for (const char* type : {"ext3", "xfs", "btrfs"})
      expect_refusal(mongo_run(type, node, {"--mkfs-options=" + options}), 2, {"--mkfs-options"});
  }
  expect_refusal(mongo_run("btrfs", node, {"--mount-options", "device=" + other}), 2, {"device="});
  EXPECT_EQ(fingerprint(node), before);
  EXPECT_EQ(fingerprint(other), other_before);
}

TEST_F(DeviceCases, LoopFileOfItsOwnAndImageOfTheUsers) {
  EXPECT_EQ(mongo_run("ext4", "loop:128MiB", {"--profile", "smoke"}).exit_status, 0);
  EXPECT_EQ(last_record().at("device").at("kind"), "loop");
  const std::string file = image("mine.img", 128 * MiB);
  EXPECT_EQ(mongo_run("ext4", "loop:" + file, {"--profile", "smoke"}).exit_status, 0);
  EXPECT_NE(test::run({"blkid", "-p", file}).out.find("LABEL=\"mongo\""), std::string::npos) << "the image stays";
  EXPECT_EQ(mongo_run("ext4", "ram:128MiB", {"--profile", "smoke"}).exit_status, 0);
  EXPECT_EQ(last_record().at("device").at("kind"), "ram");
  EXPECT_EQ(test::run({"losetup", "-a"}).out.find(folder_), std::string::npos);
  // An image that is attached elsewhere.
  const std::string node = device(128 * MiB);
  expect_nothing_left();
  const CommandResult taken = mongo_run("ext4", "loop:" + path("disk0.img"));
  EXPECT_EQ(taken.exit_status, 3) << taken.err;
  EXPECT_NE(taken.err.find(node), std::string::npos) << taken.err;
}

TEST_F(DeviceCases, TwoRunsOnOneImage) {
  const std::string file = image("mine.img", 128 * MiB);
  for (int round = 0; round < 5; ++round) {
    CommandResult results_of[2];
    const auto start = [&](const std::string& where, CommandResult& result) {
      result = test::run({MONGO_PROGRAM, "run", "ext4", "loop:" + file, path(where), where, "1", "--results", results(),
                          "--profile", "smoke"});
    };
    std::thread a(start, "a", std::ref(results_of[0])), b(start, "b", std::ref(results_of[1]));
    a.join();
    b.join();
    const std::string messages = results_of[0].err + results_of[1].err;
    EXPECT_EQ(std::min(results_of[0].exit_status, results_of[1].exit_status), 0) << messages;
    EXPECT_EQ(std::max(results_of[0].exit_status, results_of[1].exit_status), 3) << messages;
    EXPECT_NE(messages.find("locked by pid "), std::string::npos) << messages;
  }
}

TEST_F(DeviceCases, TwoRunsOnOneDevice) {
  const std::string node = device(512 * MiB);
  test::fs::create_symlink(node, path("alias"));
  int first_wins = 0, second_wins = 0;
  for (int round = 0; round < 5; ++round) {
    CommandResult first, second;
    const auto start = [&](const std::string& name, const std::string& where, CommandResult& result) {
      result = test::run(
          {MONGO_PROGRAM, "run", "ext4", name, path(where), where, "1", "--results", results(), "--profile", "smoke"});
    };
    std::thread a(start, node, "a", std::ref(first)), b(start, path("alias"), "b", std::ref(second));
    a.join();
    b.join();
    EXPECT_TRUE((first.exit_status == 0) != (second.exit_status == 0)) << first.err << second.err;
    EXPECT_EQ(first.exit_status + second.exit_status, 3) << first.err << second.err;
    const std::string message = first.err + second.err;
    EXPECT_NE(message.find("pid "), std::string::npos) << message;
    ++(first.exit_status == 0 ? first_wins : second_wins);
  }
  EXPECT_EQ(first_wins + second_wins, 5);
}

}  // namespace
}  // namespace mongo
