#include <sys/resource.h>

#include <cerrno>
#include <string>

#include "harness/core/errors.h"
#include "tests/device/run/rounds.h"
#include "tests/support/device_fixture.h"

// Limits of real file systems: they end with a reason and a count, never with a time.

namespace mongo {
namespace {

using test::MiB;
using Words = std::vector<std::string>;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A limit of this process and of what it starts, for as long as this lives.
class Limit {
 public:
  Limit(int resource, rlim_t soft) : resource_(resource) {
    getrlimit(resource, &before_);
    const rlimit less{soft, before_.rlim_max};
    EXPECT_EQ(setrlimit(resource, &less), 0);
  }
  ~Limit() { setrlimit(resource_, &before_); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

 private:
  int resource_;
  rlimit before_{};
};

class LimitsTest : public test::DeviceTest {
 protected:
  void TearDown() override {
    rounds_.leave();
    DeviceTest::TearDown();
  }

  void make(const std::string& type, std::uint64_t size, const Words& options = {}) {
    type_ = type;
    node_ = device(size);
    format_and_mount(options);
  }

  void format_and_mount(const Words& options) {
    const bool force_is_f = type_ == "xfs" || type_ == "btrfs";
    Words argv{"mkfs." + type_, force_is_f ? "-f" : "-F", "-q"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.push_back(node_);
    const CommandResult made = test::run(argv);
    ASSERT_TRUE(made.ok()) << made.err;
    mount(node_, path("mnt"), {"-t", type_});
    rounds_.enter(path("mnt"));
  }

  /// Takes the file system away and lets its own checker look at it.
  void unmount_and_check() {
    rounds_.leave();
    unmount(path("mnt"));
    const Words check = type_ == "xfs"     ? Words{"xfs_repair", "-n", node_}
                        : type_ == "btrfs" ? Words{"btrfs", "check", "--readonly", node_}
                                           : Words{"e2fsck", "-fn", node_};
    const CommandResult checked = test::run(check);
    EXPECT_TRUE(checked.ok()) << checked.out << checked.err;
  }

  /// With a sync after it, as the tool does: what is not yet placed does not make the disk look empty or full.
  PhaseRecord run(const char* name) {
    PhaseRecord record = rounds_.run(name);
    if (sync_) sync_filesystem(rounds_.root());
    return record;
  }

  /// The trees are gone.
  void expect_empty() const {
    const CommandResult found = test::run({"find", path("mnt"), "-mindepth", "1", "-not", "-name", "lost+found"});
    EXPECT_EQ(found.out, "");
  }

  /// A later phase works on what is there, says why that is less than planned, and has no time.
  void expect_goes_on(const char* name, std::uint64_t files) {
    const PhaseRecord record = run(name);
    EXPECT_EQ(record.status, Status::incomplete) << name << ": " << record.reason;
    EXPECT_EQ(record.operations, files) << name << ": " << record.reason;
    EXPECT_LT(record.operations, record.planned_operations) << name;
    EXPECT_TRUE(contains(record.reason, "create did not succeed before it")) << record.reason;
    EXPECT_EQ(test::errors_text(record), "") << name;
    test::expect_no_time(record);
  }

  std::uint64_t files_on_disk() const {
    const CommandResult found = test::run({"find", path("mnt"), "-type", "f", "-printf", "x"});
    return found.out.size();
  }

  test::Rounds rounds_;
  bool sync_ = true;
  std::string type_, node_;
};

struct Size {
  const char* type;
  std::uint64_t device;
  phases::TreeParameters tree;  // of each of two processes; together larger than the device
};

void PrintTo(const Size& size, std::ostream* out) { *out << size.type << " of " << size.device << " bytes"; }

class FullDiskTest : public LimitsTest, public ::testing::WithParamInterface<Size> {};

TEST_P(FullDiskTest, NoSpaceLeft) {
  const Size& size = GetParam();
  rounds_.processes = 2;
  rounds_.write_buffer_size = 65536;
  rounds_.tree = size.tree;
  make(size.type, size.device);
  const PhaseRecord create = run("create");
  EXPECT_EQ(create.status, Status::incomplete) << create.reason;
  const std::uint64_t planned = 2 * rounds_.files_per_tree();
  EXPECT_EQ(create.reason, "ENOSPC: no space left, " + std::to_string(create.operations) + " of " +
                               std::to_string(planned) + " files");
  test::expect_no_time(create);
  EXPECT_GT(create.operations, 0U);
  EXPECT_GT(create.bytes, size.device / 4);
  EXPECT_LT(create.bytes, size.device);
  std::uint64_t whole = 0;
  for (const char* tree : {"/testdir1-1-1", "/testdir1-1-2"}) {
    whole += test::complete_files(path("mnt") + tree, rounds_.tree);
  }
  EXPECT_EQ(whole, create.operations);

  for (const char* name : {"copy", "symlink"}) {
    const PhaseRecord record = run(name);
    EXPECT_EQ(record.status, Status::incomplete) << name << ": " << record.reason;
    EXPECT_LE(record.operations, planned) << name;
    EXPECT_NE(record.reason, "") << name;
    test::expect_no_time(record);
  }
  const std::uint64_t found = files_on_disk();
  for (const char* name : {"read", "stat"}) {
    const PhaseRecord record = run(name);
    EXPECT_EQ(record.operations, 2 * found) << name << ": each process goes through all";
    EXPECT_TRUE(record.errors.empty()) << test::errors_text(record);
    test::expect_no_time(record);
  }
  const PhaseRecord remove = run("delete");
  EXPECT_TRUE(remove.errors.empty()) << test::errors_text(remove);
  EXPECT_EQ(remove.status, Status::incomplete) << remove.reason;
  expect_empty();
  unmount_and_check();
}

constexpr phases::TreeParameters small_tree{20 * MiB, 10'000, 10'000, 10, 40, 2, 4};
constexpr phases::TreeParameters large_tree{250 * MiB, 60'000, 60'000, 10, 40, 2, 4};

INSTANTIATE_TEST_SUITE_P(Types, FullDiskTest,
                         ::testing::Values(Size{"ext2", 16 * MiB, small_tree}, Size{"ext3", 16 * MiB, small_tree},
                                           Size{"ext4", 16 * MiB, small_tree}, Size{"xfs", 300 * MiB, large_tree},
                                           Size{"btrfs", 128 * MiB, large_tree}),
                         [](const auto& test) { return std::string(test.param.type); });

TEST_F(LimitsTest, NoInodesLeft) {
  rounds_.processes = 2;
  rounds_.tree = {400'000, 100, 2000, 10, 40, 2, 4};
  make("ext4", 64 * MiB, {"-N", "512"});
  const std::uint64_t planned = 2 * rounds_.files_per_tree();
  ASSERT_GT(planned, 512U);
  const PhaseRecord create = run("create");
  EXPECT_EQ(create.status, Status::incomplete);
  EXPECT_EQ(create.reason, "ENOSPC: no inodes left, " + std::to_string(create.operations) + " of " +
                               std::to_string(planned) + " files");
  EXPECT_EQ(create.operations, files_on_disk());
  EXPECT_GT(create.bytes, 0U);
  test::expect_no_time(create);
  const PhaseRecord copy = run("copy");  // no inode for even one directory
  EXPECT_EQ(copy.status, Status::incomplete) << copy.reason;
  EXPECT_EQ(copy.reason, "ENOSPC: no inodes left, 0 of " + std::to_string(planned) + " files");
  const std::uint64_t there = create.operations;
  expect_goes_on("read", 2 * there);
  expect_goes_on("stat", 2 * there);
  expect_goes_on("rename", there);
  expect_goes_on("delete", there);
  expect_empty();
  unmount_and_check();
}

/// Each file is written to its place before its close: then that is where the full disk shows. What ext4 and xfs put
/// off they have counted beforehand.
TEST_F(LimitsTest, FullDiskWithEachFileSynced) {
  rounds_.processes = 2;
  rounds_.write_buffer_size = 65536;
  rounds_.sync_each = true;
  rounds_.tree = small_tree;
  make("ext4", 16 * MiB);
  const PhaseRecord create = run("create");
  EXPECT_EQ(create.status, Status::incomplete);
  EXPECT_TRUE(contains(create.reason, "ENOSPC: no space left, ")) << create.reason;
  test::expect_no_time(create);
  ASSERT_FALSE(create.errors.empty());
  for (const ErrorRecord& error : create.errors) EXPECT_EQ(error.name, "ENOSPC") << error.operation;
  run("delete");
  expect_empty();
  unmount_and_check();
}

/// The device takes less than it says, as thinly provisioned ones do: only what waits for the data hears of it.
TEST_F(LimitsTest, ADeviceThatTakesNoMoreIsToldBySync) {
  mount("tmpfs", path("small"), {"-t", "tmpfs", "-o", "size=12M"});
  const std::string file = path("small/disk.img");
  ASSERT_TRUE(test::run({"truncate", "-s", "64M", file}).ok());
  const CommandResult attached = test::run({"losetup", "--find", "--show", file});
  ASSERT_TRUE(attached.ok()) << attached.err;
  node_ = attached.out.substr(0, attached.out.find('\n'));
  devices_.push_back(node_);
  type_ = "ext2";
  format_and_mount({});
  rounds_.tree = small_tree;
  rounds_.write_buffer_size = 65536;
  const PhaseRecord create = rounds_.run("create");
  EXPECT_EQ(create.status, Status::ok) << create.reason << ": all of it is in memory";
  const SyncResult synced = sync_filesystem(rounds_.root());
  EXPECT_EQ(errno_name(synced.error), "EIO");
  EXPECT_GT(synced.seconds, 0);
  rounds_.leave();
  unmount(path("mnt"));
  release(node_);
  unmount(path("small"));
}

/// One directory with nearly all others in it, each of which holds one file.
class LinkLimitTest : public LimitsTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(LinkLimitTest, SubdirectoriesOfOneDirectory) {
  rounds_.tree = {650'000, 0, 1, 1'048'575, 1, 100'000'000, 100'000'000};
  const std::uint64_t planned = rounds_.files_per_tree();
  ASSERT_GT(planned, 66'000U);
  sync_ = false;  // nothing runs full, and it takes its time
  make(GetParam(), 512 * MiB, {"-b", "1024", "-N", "150000"});
  const PhaseRecord create = run("create");
  const CommandResult listed =
      test::run({"find", path("mnt/testdir1-1-1"), "-maxdepth", "1", "-type", "d", "-printf", "x"});
  const std::uint64_t directories = listed.out.size() - 1;
  const std::uint64_t there = files_on_disk();
  EXPECT_EQ(create.operations, there);
  if (type_ == "ext4") {
    EXPECT_EQ(create.status, Status::ok) << create.reason;
    EXPECT_GT(directories, 66'000U);
    EXPECT_EQ(run("stat").status, Status::ok);
    EXPECT_EQ(run("delete").status, Status::ok);
  } else {
    EXPECT_EQ(create.status, Status::incomplete) << create.reason;
    EXPECT_EQ(create.reason, "EMLINK: no more links or subdirectories, " + std::to_string(there) + " of " +
                                 std::to_string(planned) + " files");
    EXPECT_GT(directories, 31'000U);
    EXPECT_LT(directories, 66'000U);
    ASSERT_EQ(create.errors.size(), 1U) << test::errors_text(create);
    EXPECT_EQ(create.errors[0].operation, "mkdir");
    // Each directory that could not be made was tried once. Directories in directories come on top of those at the top.
    EXPECT_LE(create.errors[0].count + there, planned);
    EXPECT_GT(create.errors[0].count + there + 100, planned);
    EXPECT_LE(directories + 1, there);
    EXPECT_GT(directories + 1 + 100, there);
    test::expect_no_time(create);
    expect_goes_on("stat", there);
    expect_goes_on("delete", there);
  }
  expect_empty();
  unmount_and_check();
}

INSTANTIATE_TEST_SUITE_P(Types, LinkLimitTest, ::testing::Values("ext2", "ext3", "ext4"),
                         [](const auto& test) { return std::string(test.param); });

TEST_F(LimitsTest, FilesMayNotBeLarger) {
  rounds_.processes = 2;
  rounds_.tree = {2'000'000, 5000, 10'000, 10, 40, 2, 4};
  make("ext4", 64 * MiB);
  std::uint64_t small = 0;
  for (const auto& [name, size] : test::planned_files(rounds_.tree)) small += size <= 20'000;
  const std::uint64_t planned = 2 * rounds_.files_per_tree();
  ASSERT_LT(2 * small, planned);
  PhaseRecord create;
  {
    const Limit limit(RLIMIT_FSIZE, 20'000);
    create = run("create");
  }
  EXPECT_EQ(create.status, Status::incomplete);
  EXPECT_EQ(create.operations, 2 * small);
  EXPECT_EQ(create.reason,
            "EFBIG: File too large, " + std::to_string(2 * small) + " of " + std::to_string(planned) + " files");
  ASSERT_EQ(create.errors.size(), 1U) << test::errors_text(create);
  EXPECT_EQ(create.errors[0].operation, "write");
  EXPECT_EQ(create.errors[0].count, planned - 2 * small);
  test::expect_no_time(create);
  EXPECT_EQ(run("delete").operations, planned) << "the cut files are there as well";
  expect_empty();
  unmount_and_check();
}

TEST_F(LimitsTest, FewDescriptorsAreEnough) {
  rounds_.processes = 8;
  rounds_.tree = {1'050'000, 10, 100, 20, 60, 1'048'575, 1};  // 34 levels
  sync_ = false;
  make("ext2", 512 * MiB, {"-N", "200000"});
  const std::uint64_t files = rounds_.files_per_tree();
  EXPECT_GT(files, 10'000U);
  const Limit limit(RLIMIT_NOFILE, 64);
  for (const char* name : {"create", "rename", "delete"}) {
    const PhaseRecord record = run(name);
    EXPECT_EQ(record.status, Status::ok) << name << ": " << record.reason;
    EXPECT_EQ(record.operations, 8 * files) << name;
  }
  expect_empty();
  unmount_and_check();
}

}  // namespace
}  // namespace mongo
