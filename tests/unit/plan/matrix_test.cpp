// The cells of a matrix: product, exclude, include, repeats, limits, names and order.
#include "harness/plan/matrix.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <set>
#include <thread>

#include "harness/core/descriptor.h"
#include "harness/core/errors.h"
#include "tests/unit/plan/matrix_support.h"

namespace mongo {
namespace {

constexpr const char* two_by_two = "matrix:\n  filesystem: [ext4, xfs]\n  processes: [1, 4]\n";

std::string cells(const std::string& rest) { return cells_of(parse_matrix(on_a_device(rest), "m.yaml")); }

TEST(Matrix, IsTheProductOfItsAxesInTheOrderOfTheFile) {
  EXPECT_EQ(cells(two_by_two), "ext4 1|ext4 4|xfs 1|xfs 4");
  EXPECT_EQ(cells("matrix: {processes: [1, 4], filesystem: [ext4, xfs]}"), "ext4 1|xfs 1|ext4 4|xfs 4");
  EXPECT_EQ(cells("matrix: {filesystem: ext4, processes: 2}"), "ext4");
}

TEST(Matrix, ExcludeTakesOutWhatHasAllValuesOfAnEntry) {
  EXPECT_EQ(cells(std::string(two_by_two) + "exclude: [{filesystem: xfs, processes: 4}]"), "ext4 1|ext4 4|xfs 1");
  EXPECT_EQ(cells(std::string(two_by_two) + "exclude: [{filesystem: xfs}]"), "ext4 1|ext4 4");
  EXPECT_EQ(cells(std::string(two_by_two) + "exclude: [{processes: '4'}]"), "ext4|xfs");
  const Matrix matrix = parse_matrix(
      on_a_device(std::string(two_by_two) + "exclude: [{filesystem: ext2}, {filesystem: xfs, sync: each}]"), "m.yaml");
  ASSERT_EQ(matrix.warnings.size(), 2U);
  EXPECT_EQ(matrix.warnings[0], "m.yaml:5:11: exclude: this entry matches no cell");
  EXPECT_EQ(matrix.warnings[1], "m.yaml:5:31: exclude: this entry matches no cell: sync is no axis");
  EXPECT_EQ(refusal_of(on_a_device(std::string(two_by_two) + "exclude: [{processes: 1}, {processes: 4}]")),
            "m.yaml:5:27: exclude: no cell of 4 is left");
}

TEST(Matrix, IncludeExtendsWhatItAgreesWithOrAddsACell) {
  const std::string excluded = std::string(two_by_two) + "exclude: [{filesystem: xfs, processes: 4}]\n";
  EXPECT_EQ(cells(excluded + "include: [{filesystem: xfs, processes: 4, mkfs_options: '-m reflink=0'}]"),
            "ext4 1|ext4 4|xfs 1|xfs 4 -m reflink=0");
  EXPECT_EQ(cells(excluded + "include: [{filesystem: ext3, profile: ltp}]"), "ext4 1|ext4 4|xfs 1|ext3 ltp");
  EXPECT_EQ(cells(excluded + "include: [{filesystem: xfs, mkfs_options: '-m reflink=0'}]"),
            "ext4 1|ext4 4|xfs 1 -m reflink=0");
  // Without a key that is an axis it extends all; a later entry replaces what an earlier one added.
  EXPECT_EQ(cells(std::string(two_by_two) + "include: [{profile: ltp}, {filesystem: xfs, profile: smoke}]"),
            "ext4 1 ltp|ext4 4 ltp|xfs 1 smoke|xfs 4 smoke");
  // What an entry has added is not extended by the next.
  EXPECT_EQ(cells(std::string(two_by_two) + "include: [{filesystem: ext3}, {filesystem: ext3, sync: each}]"),
            "ext4 1|ext4 4|xfs 1|xfs 4|ext3|ext3 each");
  EXPECT_EQ(cells("include: [{filesystem: ext3}, {filesystem: ext2, processes: 4}]"), "ext3|ext2 4");
}

TEST(Matrix, TheExampleOfGitHub) {
  // docs.github.com, "Expanding or adding matrix configurations", with file systems for fruits and animals.
  EXPECT_EQ(cells("matrix:\n"
                  "  filesystem: [ext3, ext4]\n"
                  "  processes: [1, 2]\n"
                  "include:\n"
                  "  - sync: each\n"
                  "  - sync: none\n"
                  "    processes: 1\n"
                  "  - filesystem: ext3\n"
                  "    content: zero\n"
                  "  - filesystem: xfs\n"
                  "  - filesystem: xfs\n"
                  "    processes: 1\n"
                  "    verify: true\n"),
            "ext3 1 none zero|ext3 2 each zero|ext4 1 none|ext4 2 each|xfs|xfs 1 true");
}

TEST(Matrix, AnIncludeThatChangesNothingIsSaid) {
  const Matrix matrix = parse_matrix(on_a_device(std::string(two_by_two) + "include: [{filesystem: xfs}]"), "m.yaml");
  EXPECT_EQ(matrix.cells.size(), 4U);
  ASSERT_EQ(matrix.warnings.size(), 1U);
  EXPECT_TRUE(contains(matrix.warnings[0], "m.yaml:5:11: include: this entry changes nothing")) << matrix.warnings[0];
}

TEST(Matrix, OptionSetsAreUsedByName) {
  const std::string sets =
      "option_sets:\n"
      "  plain: {}\n"
      "  writeback: {mount_options: data=writeback, cache: drop}\n";
  const Matrix matrix = parse_matrix(
      on_a_device(sets + "defaults: {cache: warm}\nmatrix: {filesystem: ext3, options: [plain, writeback]}"), "m.yaml");
  EXPECT_EQ(cells_of(matrix), "ext3 plain|ext3 writeback");
  EXPECT_EQ(matrix.cells[0].request.cache, "warm");
  EXPECT_EQ(matrix.cells[1].request.cache, "drop");
  EXPECT_EQ(matrix.cells[1].request.mount_options, "data=writeback");
  EXPECT_TRUE(contains(refusal_of(on_a_device(sets + "matrix: {filesystem: ext3, options: [plane]}")),
                       "m.yaml:5:38: options: there is no option set 'plane' (did you mean plain?)"));
  EXPECT_TRUE(
      contains(refusal_of(on_a_device(sets + "matrix: {filesystem: ext3, options: [plain, writeback], cache: [warm]}")),
               "m.yaml:5:65: cache: the option set 'writeback' says it too, in line 4"));
  const Matrix unused = parse_matrix(on_a_device(sets + "matrix: {filesystem: ext3, options: plain}"), "m.yaml");
  ASSERT_EQ(unused.warnings.size(), 1U);
  EXPECT_EQ(unused.warnings[0], "m.yaml:4:3: option_sets: the option set 'writeback' is used nowhere");
}

TEST(Matrix, ValuesThatMeanTheSameAreOne) {
  const auto count = [](const std::string& axis) {
    const Matrix matrix = parse_matrix(on_a_device("matrix: {filesystem: ext4, " + axis + "}"), "m.yaml");
    EXPECT_EQ(matrix.warnings.empty(), matrix.cells.size() > 1) << axis;
    return matrix.cells.size();
  };
  EXPECT_EQ(count("processes: [1, 1]"), 1U);
  EXPECT_EQ(count("processes: [1, '1']"), 1U);
  EXPECT_EQ(count("bytes_per_tree: [10M, 10MiB, 10Mi, 10485760]"), 1U);
  EXPECT_EQ(count("bytes_per_tree: [10MB, 10000kB, 10000000]"), 1U);
  EXPECT_EQ(count("median_file_sizes: ['100,4KiB', [100, 4096]]"), 1U);
  EXPECT_EQ(count("phases: ['create,read', [read, create]]"), 1U);
  EXPECT_EQ(count("cache: ['read=drop,stat=drop', 'stat=drop,read=drop']"), 1U);
  EXPECT_EQ(count("mkfs_options: ['-N 4000', '-N  4000']"), 1U);
  EXPECT_EQ(count("bytes_per_tree: [10M, 10MB]"), 2U);
  EXPECT_EQ(parse_matrix("devices: [loop:1GiB, 'loop:1024MiB']\nmatrix: {filesystem: ext4}", "m").cells.size(), 1U);
  const Matrix included = parse_matrix(
      on_a_device("matrix: {filesystem: [ext4]}\ninclude: [{filesystem: xfs}, {filesystem: xfs, sync: phase}]"),
      "m.yaml");
  EXPECT_EQ(included.cells.size(), 2U);
  ASSERT_EQ(included.warnings.size(), 1U);
  EXPECT_TRUE(contains(included.warnings[0], "the same as an earlier one")) << included.warnings[0];
}

TEST(Matrix, OptionsThatNoRunWouldTakeAreRefusedBeforeAnything) {
  // The place is that of the value, wherever it comes from.
  EXPECT_TRUE(
      refusal_of(on_a_device("matrix:\n  filesystem: [ext4]\n  mkfs_options: ['-N 4000', '-X 1']\n"))
          .starts_with("m.yaml:4:29: mkfs_options: '-X' cannot be used with ext4: refused is what this tool sets "
                       "itself, what makes no file system, and what names files or devices. Can be used: -b "))
      << refusal_of(on_a_device("matrix:\n  filesystem: [ext4]\n  mkfs_options: ['-N 4000', '-X 1']\n"));
  EXPECT_TRUE(refusal_of(on_a_device("matrix:\n  filesystem: [ext4]\n  mkfs_options: ['-N 4000', '-X 1']\n"))
                  .ends_with(". In the cell filesystem ext4, mkfs_options -X 1"));
  EXPECT_EQ(refusal_of(on_a_device("defaults: {mount_options: [noatime, ro]}\nmatrix: {filesystem: [ext4, xfs]}")),
            "m.yaml:2:27: mount_options: 'ro' cannot be used: a benchmark has to write. Leave it out. In the cell "
            "filesystem ext4");
  // What one file system takes and another does not: the cell is named.
  const std::string both = "matrix: {filesystem: [xfs, ext4], processes: [1, 2]}\n";
  const std::string sets = "option_sets: {small: {mkfs_options: '-s size=4096'}, plain: {}}\n";
  const std::string from_set =
      refusal_of(on_a_device(sets + "matrix: {filesystem: [xfs, ext4], options: [plain, small]}"));
  EXPECT_TRUE(from_set.starts_with("m.yaml:2:37: mkfs_options: '-s' cannot be used with ext4: ")) << from_set;
  EXPECT_TRUE(from_set.ends_with(". In the cell options small, filesystem ext4")) << from_set;
  const std::string included = refusal_of(on_a_device(both + "include:\n  - {processes: 2, mkfs_options: -K -n 8}"));
  EXPECT_TRUE(included.starts_with("m.yaml:4:34: mkfs_options: '-n' cannot be used with ext4: ")) << included;
  EXPECT_TRUE(included.ends_with(". In the cell filesystem ext4, processes 2, mkfs_options -K -n 8")) << included;
  const std::string own = refusal_of(on_a_device(both + "include: [{filesystem: ext2, mount_options: 'loop'}]"));
  EXPECT_EQ(own,
            "m.yaml:3:45: mount_options: 'loop' cannot be used: loop devices are the tool's own: give the device as "
            "loop:PATH. Leave it out. In the cell filesystem ext2, mount_options loop");
  // Another device, also one that hides in a value.
  EXPECT_TRUE(contains(refusal_of(on_a_device("matrix: {filesystem: ext4, mkfs_options: '-J device=LABEL=x'}")),
                       "m.yaml:2:42: mkfs_options: '-J device=LABEL=x' has 'device', which is refused"));
  EXPECT_TRUE(contains(refusal_of(on_a_device("matrix: {filesystem: ext4, mkfs_options: /dev/sdb}")),
                       "m.yaml:2:42: mkfs_options: '/dev/sdb' is neither an option nor the value of one"));
}

TEST(Matrix, OptionsOfCellsThatAreNotInThePlanAreNotRefused) {
  const std::string two = "matrix: {filesystem: [xfs, ext4], mkfs_options: ['', '-s size=4096']}\n";
  EXPECT_TRUE(contains(refusal_of(on_a_device(two)), "'-s' cannot be used with ext4"));
  EXPECT_EQ(cells(two + "exclude: [{filesystem: ext4, mkfs_options: '-s size=4096'}]"), "xfs |xfs -s size=4096|ext4 ");
  EXPECT_EQ(refusal_of(on_a_device("option_sets: {bad: {mount_options: bind}, good: {}}\n"
                                   "matrix: {filesystem: ext4, options: [bad, good]}\nexclude: [{options: bad}]")),
            "");
  // What the lists let through is left to mkfs and the kernel.
  EXPECT_EQ(refusal_of(on_a_device("matrix: {filesystem: xfs, mkfs_options: -b size=3, mount_options: bogus=1}")), "");
}

TEST(Matrix, ExplosionsAreRefusedBeforeTheyAreMade) {
  const auto start = std::chrono::steady_clock::now();
  std::string axes = "matrix:\n";
  const char* keys[] = {"processes",        "repetitions",    "phase_timeout",    "max_dir_files",
                        "median_dir_files", "bytes_per_tree", "max_dir_branching"};
  for (const char* key : keys) {
    axes += "  " + std::string(key) + ": [";
    for (int i = 1; i <= 20; ++i) axes += std::to_string(i) + (i < 20 ? ", " : "]\n");
  }
  EXPECT_TRUE(contains(refusal_of(on_a_device("defaults: {filesystem: ext4}\n" + axes)),
                       "m.yaml:4:3: matrix: the axes make 20 x 20 x 20 x 20 x 20 x 20 x 20 = 1280000000 cells, more "
                       "than the 10000 that are allowed"));
  EXPECT_TRUE(contains(refusal_of(on_a_device("matrix: {filesystem: ext4}\nrepeats: 1000000")),
                       "m.yaml:3:10: repeats: '1000000': it is too large. It must be a whole decimal number from 1 to "
                       "10000"));
  EXPECT_TRUE(contains(refusal_of(on_a_device("matrix: {filesystem: [ext4, xfs]}\nrepeats: 5001")),
                       "m.yaml:3:10: repeats: 2 cells, 5001 times each, are 10002 runs; at most 10000"));
  EXPECT_EQ(parse_matrix(on_a_device("matrix: {filesystem: [ext4, xfs]}\nrepeats: 5000"), "m").cells.size(), 10000U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(Matrix, AProductBeyond64BitsIsRefused) {
  // 11 axes of 100 values.
  std::string axes = "matrix:\n";
  const char* keys[] = {"processes",
                        "repetitions",
                        "phase_timeout",
                        "median_dir_files",
                        "max_dir_files",
                        "max_dir_branching",
                        "median_dir_branching",
                        "max_file_size",
                        "bytes_per_tree",
                        "mkfs_options",
                        "device"};
  for (const std::string key : keys) {
    axes += "  " + key + ": [";
    for (int i = 1; i <= 100; ++i) {
      const std::string value = key == "device" ? "loop:" + std::to_string(i) + "MiB" : std::to_string(i);
      axes += (key == "mkfs_options" ? "'" + value + "'" : value) + (i < 100 ? ", " : "]\n");
    }
  }
  EXPECT_TRUE(contains(refusal_of("defaults: {filesystem: ext4}\n" + axes), "= more than 2^64 cells"));
}

TEST(Matrix, RequestsAreComplete) {
  const Matrix matrix = parse_matrix(
      on_a_device("mount_point: /work1\ndefaults: {profile: smoke, latency: false}\nmatrix: {filesystem: ext4, sparse: "
                  "[true, false]}\nrepeats: 2"),
      "m.yaml");
  ASSERT_EQ(matrix.cells.size(), 4U);
  EXPECT_EQ(matrix.repeats, 2);
  EXPECT_EQ(matrix.cells[1].repeat, 2);
  EXPECT_EQ(matrix.cells[0].id, matrix.cells[1].id);
  EXPECT_EQ(matrix.cells[1].request.log, matrix.cells[1].id + "-r2");
  const RunRequest& request = matrix.cells[0].request;
  EXPECT_EQ(request.filesystem, "ext4");
  EXPECT_EQ(request.device, "loop:2GiB");
  EXPECT_EQ(request.mount_point, "/work1");
  EXPECT_EQ(request.processes, "1");
  EXPECT_EQ(request.profile, "smoke");
  EXPECT_FALSE(request.latency);
  EXPECT_TRUE(request.sparse);
  EXPECT_FALSE(matrix.cells[2].request.sparse);
  EXPECT_EQ(parse_matrix(on_a_device("matrix: {filesystem: ext4}"), "m").cells[0].request.mount_point, "/mnt/mongo");
}

TEST(Matrix, IdsDependOnTheCellAlone) {
  const auto id = [](const std::string& rest, std::size_t index) {
    return parse_matrix(on_a_device(rest), "m.yaml").cells.at(index).id;
  };
  const std::string alone = id("matrix: {filesystem: ext4, processes: 2, cache: read=drop}", 0);
  EXPECT_TRUE(alone.starts_with("ext4-p2-cache-read-drop-loop-2GiB-")) << alone;
  EXPECT_EQ(id("matrix: {cache: [warm, read=drop], processes: [1, 2], filesystem: [xfs, ext4]}", 7), alone);
  EXPECT_EQ(id("defaults: {processes: '2', cache: read=drop, profile: classic}\nmatrix: {filesystem: ext4}", 0), alone);
  EXPECT_EQ(id("option_sets: {a: {cache: read=drop, processes: 2}}\ninclude: [{filesystem: ext4, options: a}]", 0),
            alone);
  EXPECT_NE(id("matrix: {filesystem: ext4, processes: 2, cache: read=remount}", 0), alone);
  EXPECT_TRUE(id("matrix: {filesystem: ext3, mkfs_options: -O ^dir_index}", 0).starts_with("ext3-p1-O-no-dir-index-"));
}

TEST(Matrix, IdsAreUniqueNamesOfFiles) {
  const Matrix matrix =
      parse_matrix(on_a_device("matrix:\n  filesystem: [ext4]\n  mount_options: ['', '-O ^x', '-O x', '-O  -x', "
                               "'/../\xc3\xa4', '\xc3\xa4', '" +
                               std::string(900, 'x') + "', '" + std::string(901, 'x') + "', '^', '^^', '.', '-.-']\n"),
                   "m.yaml");
  std::set<std::string> ids;
  for (const MatrixCell& cell : matrix.cells) {
    EXPECT_EQ(cell.id.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-."),
              std::string::npos)
        << cell.id;
    EXPECT_LE(cell.id.size(), 100U);
    EXPECT_TRUE(ids.insert(cell.id).second) << cell.id;
  }
  EXPECT_EQ(ids.size(), 12U);
}

TEST(Matrix, ParametersTellWhatDiffers) {
  const Matrix matrix = parse_matrix(
      on_a_device("defaults: {profile: smoke, sync: each}\nmatrix: {cache: [warm, drop], filesystem: [ext4]}\n"
                  "include: [{filesystem: xfs, profile: ltp, cache: drop}]"),
      "m.yaml");
  using Parameters = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(matrix.cells[0].parameters, (Parameters{{"filesystem", "ext4"}, {"cache", "warm"}, {"profile", "smoke"}}));
  EXPECT_EQ(matrix.cells[2].parameters, (Parameters{{"filesystem", "xfs"}, {"cache", "drop"}, {"profile", "ltp"}}));
}

TEST(MatrixOrder, IsTheSameEverywhere) {
  const Matrix matrix =
      parse_matrix(on_a_device("matrix: {filesystem: ext4, processes: [1, 2, 3, 4, 5]}\nrepeats: 2"), "m.yaml");
  using Order = std::vector<std::size_t>;
  EXPECT_EQ(order_of(matrix, MatrixOrder::listed, 1), (Order{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(order_of(matrix, MatrixOrder::shuffled, 1), order_of(matrix, MatrixOrder::shuffled, 1));
  EXPECT_NE(order_of(matrix, MatrixOrder::shuffled, 1), order_of(matrix, MatrixOrder::shuffled, 2));
  EXPECT_EQ(order_of(matrix, MatrixOrder::shuffled, 42), (Order{2, 4, 0, 8, 6, 7, 9, 3, 5, 1}));
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Order order = order_of(matrix, MatrixOrder::shuffled, seed);
    EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), 10U);
    for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(matrix.cells[order[i]].repeat, i < 5 ? 1 : 2);
  }
}

TEST(MatrixOrder, EachPlaceIsAsLikely) {
  const Matrix matrix = parse_matrix(on_a_device("matrix: {filesystem: ext4, processes: [1, 2, 3]}"), "m.yaml");
  std::map<std::vector<std::size_t>, int> seen;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) ++seen[order_of(matrix, MatrixOrder::shuffled, seed)];
  EXPECT_EQ(seen.size(), 6U);
  for (const auto& [order, count] : seen) EXPECT_NEAR(count, 1000, 150);
}

TEST(MatrixFile, WhatCannotBeReadIsSaid) {
  const auto refusal = [](const std::string& path) -> std::string {
    try {
      read_matrix(path);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("/none/there.yaml"),
            "the matrix /none/there.yaml cannot be read: No such file or directory (ENOENT)");
  EXPECT_TRUE(contains(refusal("/"), "cannot be read: Is a directory (EISDIR)"));
  EXPECT_EQ(refusal("/dev/zero"),
            "/dev/zero: it has more than 1048576 bytes. Is it a matrix file? Divide a larger matrix into several "
            "files");
}

class FifoTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(mkdtemp(folder_), nullptr);
    ASSERT_EQ(mkfifo(fifo().c_str(), 0600), 0);
  }
  void TearDown() override {
    unlink(fifo().c_str());
    rmdir(folder_);
  }
  std::string fifo() const { return folder_ + std::string("/fifo"); }

  char folder_[32] = "/tmp/mongo-fifo-XXXXXX";
};

TEST_F(FifoTest, ItsWriterIsWaitedFor) {
  const std::string text = on_a_device("matrix: {filesystem: ext4}\n");
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::ofstream out(fifo());
    out << text.substr(0, 20) << std::flush;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    out << text.substr(20);
  });
  const InterruptWatch watch;
  EXPECT_EQ(read_matrix(fifo(), &watch).text, text);
  writer.join();
}

TEST_F(FifoTest, ASignalEndsTheWait) {
  InterruptWatch watch;
  // Without a writer, and with one that writes nothing.
  std::thread signal([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    watch.raise(SIGTERM);
  });
  EXPECT_THROW(read_matrix(fifo(), &watch), Interrupted);
  signal.join();
  const Descriptor writer(open(fifo().c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_THROW(read_matrix(fifo(), &watch), Interrupted);
}

}  // namespace
}  // namespace mongo
