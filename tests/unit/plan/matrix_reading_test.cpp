// What a matrix file may say: keys, texts, numbers, sizes and truth values.
#include <gtest/gtest.h>

#include "harness/plan/matrix.h"
#include "tests/support/comma_locale.h"
#include "tests/unit/plan/matrix_support.h"

namespace mongo {
namespace {

/// The refusal of one value of an axis.
std::string with(const std::string& key, const std::string& value) {
  return refusal_of(on_a_device("matrix:\n  filesystem: ext4\n  " + key + ": " + value + "\n"));
}

TEST(MatrixReading, NoIsAText) {
  EXPECT_TRUE(contains(refusal_of(on_a_device("matrix: {filesystem: [no, ext3]}")),
                       "m.yaml:2:23: filesystem: file system 'no' is not known. There are: btrfs"));
  EXPECT_EQ(with("sync", "n"), "m.yaml:4:9: sync: 'n' is not known. There are: each, phase, none");
  EXPECT_EQ(with("mount_options", "off"), "");
  for (const char* value : {"no", "off", "y", "yes", "True", "FALSE", "'true'", "1", "0"}) {
    EXPECT_TRUE(contains(with("verify", value), "is neither true nor false, without quotes")) << value;
  }
  EXPECT_EQ(with("verify", "[true, false]"), "");
}

TEST(MatrixReading, EmptyAndOddRootsAreRefused) {
  for (const char* text : {"", "# nothing\n", "---\n", "~\n", "\xef\xbb\xbf"}) {
    EXPECT_TRUE(contains(refusal_of(text), "no cells: there is nothing in it")) << text;
  }
  EXPECT_TRUE(contains(refusal_of("hello"), "m.yaml:1:1: it must be a map with the keys device, devices"));
  EXPECT_TRUE(contains(refusal_of("[a]"), "it must be a map"));
  EXPECT_TRUE(contains(refusal_of("device: loop:2GiB\n"), "no cells: there is neither matrix nor include"));
  EXPECT_TRUE(contains(refusal_of(on_a_device("include: []")), "no cells"));
  EXPECT_TRUE(contains(refusal_of(on_a_device("matrix: {}")), "m.yaml:2:9: matrix: it is empty"));
  EXPECT_TRUE(contains(refusal_of(on_a_device("matrix:\n")), "m.yaml:2:1: matrix: it must be a map"));
  EXPECT_EQ(refusal_of(on_a_device("matrix: {filesystem: []}")), "m.yaml:2:22: filesystem: the axis has no values");
}

TEST(MatrixReading, UnknownKeysGetASuggestion) {
  EXPECT_TRUE(contains(with("mount_option", "[noatime]"),
                       "m.yaml:4:3: mount_option: no such key (did you mean "
                       "mount_options?). There are: options, filesystem"));
  EXPECT_TRUE(contains(with("mkfs", "x"), "(did you mean mkfs_options?)"));
  EXPECT_TRUE(contains(with("median", "x"), "m.yaml:4:3: median: no such key. There are: options"));
  EXPECT_TRUE(contains(refusal_of(on_a_device("matrix: {filesystem: ext5}")),
                       "filesystem: file system 'ext5' is not known. There are: btrfs"));
  EXPECT_TRUE(contains(refusal_of(on_a_device("Processes: 4\n")), "Processes: no such key (did you mean processes?)"));
  EXPECT_TRUE(contains(refusal_of(on_a_device("processes: 4\n")), "goes below defaults or matrix"));
  EXPECT_TRUE(contains(refusal_of(on_a_device("repeat: 4\n")), "(did you mean repeats?)"));
  EXPECT_TRUE(contains(refusal_of(on_a_device("matrix: { p: 1, q:x }")), "m.yaml:2:11: p: no such key"));
  const std::string matrix = "matrix: {filesystem: ext4}\n";
  EXPECT_TRUE(contains(refusal_of(on_a_device(matrix + "exclude: [{fs: xfs}]")), "m.yaml:3:12: fs: no such key"));
  EXPECT_TRUE(contains(refusal_of(on_a_device(matrix + "include: [{note: x}]")), "m.yaml:3:12: note: no such key"));
  EXPECT_TRUE(contains(refusal_of(on_a_device(matrix + "defaults: {options: x}")), "options: not here. There are"));
  EXPECT_TRUE(contains(refusal_of(on_a_device(matrix + "option_sets: {a: {log: x}}")), "log: no such key"));
  EXPECT_TRUE(contains(with("mount_point", "/x"), "mount_point: not here"));
  for (const char* entries : {"[{}]", "[xfs]", "[~]", "{filesystem: xfs}", "xfs"}) {
    EXPECT_TRUE(contains(refusal_of(on_a_device(matrix + "exclude: " + entries)), "exclude: ")) << entries;
    EXPECT_TRUE(contains(refusal_of(on_a_device(matrix + "include: " + entries)), "include: ")) << entries;
  }
}

TEST(MatrixReading, ErrorsHaveThePlaceOfTheValue) {
  EXPECT_EQ(with("profile", "[smoke, clasic]"),
            "m.yaml:4:20: profile: 'clasic' is not known (did you mean classic?). There are: classic, ltp, smoke");
  EXPECT_TRUE(contains(with("cache", "raed=drop"),
                       "m.yaml:4:10: cache: 'raed' is no phase of this run (did you mean "
                       "read?)"));
  EXPECT_TRUE(contains(with("phases", "[[read]]"), "m.yaml:4:12: phases: 'read' needs the files that create makes"));
  EXPECT_TRUE(
      contains(refusal_of("device: /dev/sdb1\nmatrix: {filesystem: ext4, sector_size: 4096}"),
               "m.yaml:2:41: sector_size: is for loop:SIZE, loop:PATH and ram:SIZE: a block device has its own, "
               "in the cell filesystem ext4, sector_size 4096"));
  EXPECT_TRUE(
      contains(with("cache", "read=drop\n  phases: create"), "m.yaml:4:10: cache: 'read' is no phase of this run"));
  EXPECT_TRUE(contains(with("max_file_size", "1\n  median_file_sizes: 100MB"), "m.yaml:4:18: max_file_size: "));
  EXPECT_TRUE(contains(refusal_of("matrix: {filesystem: ext4}"), "m.yaml:1:22: device: it is missing for the cell"));
  EXPECT_TRUE(contains(refusal_of(on_a_device("matrix: {processes: 1}")), "filesystem: it is missing for the cell"));
  EXPECT_TRUE(contains(refusal_of(on_a_device("matrix: {filesystem: dir}")), "dir has no device"));
  EXPECT_EQ(refusal_of("device: none\nmatrix: {filesystem: dir}"), "");
}

TEST(MatrixReading, WholeNumbersAreDigitsInQuotesOrNot) {
  for (const char* value : {"4", "'4'", "\"4\"", "[1, 1000]"}) EXPECT_EQ(with("processes", value), "") << value;
  for (const char* value : {"0", "-1", "abc", "1.5", "' 4'", "+4", "1000000", "99999999999999999999", "010", "1e1",
                            "4.0", "0x4", "1_0", "''", "true"}) {
    EXPECT_TRUE(contains(with("processes", value), "It must be a whole decimal number from 1 to 1000")) << value;
  }
  for (const char* value : {"", "~", "[~]", "[[1]]", "{a: 1}"}) {
    EXPECT_TRUE(contains(with("processes", value), "m.yaml:4:")) << value;
  }
  EXPECT_EQ(refusal_of(on_a_device("matrix: {filesystem: ext4}\nrepeats: '2'")), "");
  for (const char* value : {"0", "010", "2.0", "[2]", "~", "-1"}) {
    EXPECT_TRUE(
        contains(refusal_of(on_a_device(std::string("matrix: {filesystem: ext4}\nrepeats: ") + value)), "repeats: "))
        << value;
  }
}

TEST(MatrixReading, SizesHaveOneTable) {
  for (const char* value : {"10M", "10MB", "10MiB", "10Mi", "1.5G", "10000000", "'10M'"}) {
    EXPECT_EQ(with("bytes_per_tree", value), "") << value;
  }
  for (const char* value :
       {"10m", "1e6", "'10 MiB'", "-1M", "0", "9E", "99999999999G", "010", "0x10", "''", "1.5", "4.0"}) {
    EXPECT_TRUE(contains(with("bytes_per_tree", value), "m.yaml:4:19: bytes_per_tree: '")) << value;
  }
  const Matrix matrix = parse_matrix(
      on_a_device("matrix: {filesystem: ext4, bytes_per_tree: 1.5M, median_file_sizes: [[100, 4KiB]]}"), "m");
  EXPECT_EQ(resolve(matrix.cells[0].request).profile.name,
            "classic (median-file-sizes 100,4096; bytes-per-tree 1572864)");
}

// Case 48.
TEST(MatrixReading, NumbersHaveAPointInEveryLocale) {
  const std::string good = "matrix: {filesystem: ext4, bytes_per_tree: 1.5M, median_file_sizes: 12345}";
  const auto name = [&] { return resolve(parse_matrix(on_a_device(good), "m.yaml").cells[0].request).profile.name; };
  const std::string before = name();
  EXPECT_TRUE(contains(before, "bytes-per-tree 1572864")) << before;
  const auto refusals = [] {
    EXPECT_TRUE(contains(with("bytes_per_tree", "2,88M"), "m.yaml:4:19: bytes_per_tree: '2,88M'"))
        << with("bytes_per_tree", "2,88M");
    EXPECT_TRUE(contains(with("phase_timeout", "2,88"), "m.yaml:4:18: phase_timeout: '2,88': it is not made of digits"))
        << with("phase_timeout", "2,88");
    EXPECT_TRUE(contains(with("processes", "'2,88'"), "m.yaml:4:14: processes: '2,88': it is not made of digits"));
    EXPECT_EQ(with("bytes_per_tree", "2.75M"), "");
  };
  refusals();
  const test::CommaLocale comma;
  EXPECT_EQ(name(), before);
  refusals();
}

TEST(MatrixReading, ListsCanBeOneValue) {
  const Matrix matrix = parse_matrix(
      on_a_device(
          "defaults: {phases: [create, read], mount_options: [noatime, data=journal], cache: [drop, read=warm]}\n"
          "matrix: {filesystem: ext4, median_file_sizes: [100, [100, 1kB]]}"),
      "m.yaml");
  ASSERT_EQ(matrix.cells.size(), 2U);
  EXPECT_EQ(matrix.cells[0].request.phases, "create,read");
  EXPECT_EQ(matrix.cells[0].request.mount_options, "noatime,data=journal");
  EXPECT_EQ(matrix.cells[0].request.cache, "drop,read=warm");
  EXPECT_EQ(matrix.cells[1].request.median_file_sizes, "100,1kB");
  EXPECT_TRUE(contains(with("processes", "[[1, 2]]"), "a list is no value of it"));
  EXPECT_TRUE(contains(with("phases", "[[]]"), "the list is empty"));
  EXPECT_TRUE(contains(with("phases", "[[create, '']]"), "it is empty"));
  EXPECT_TRUE(contains(with("phases", "[['create,read', stat]]"), "holds a comma"));
  EXPECT_TRUE(contains(with("phases", "[[[create]]]"), "nothing but single values"));
}

TEST(MatrixReading, TextsAreTexts) {
  for (const char* value : {"5", "1.5", "true", "0x10", ".inf", "[[5]]"}) {
    EXPECT_TRUE(contains(with("mount_options", value), "is no text. Put it into quotes")) << value;
  }
  EXPECT_EQ(with("mount_options", "'5'"), "");
  EXPECT_EQ(with("mkfs_options", "''"), "");
  EXPECT_EQ(with("mkfs_options", ">-\n    -N 4000\n    -O ^dir_index"), "");
  EXPECT_TRUE(contains(with("mkfs_options", "|\n    -N 4000"), "it holds a line end"));
  EXPECT_TRUE(contains(with("mkfs_options", "\"a\\0b\""), "it holds a control character"));
  EXPECT_TRUE(contains(with("mkfs_options", "\"'a\""), "the quote ' at character 1 is not closed"));
  EXPECT_TRUE(contains(with("mkfs_options", std::string(1001, 'x')), "longer than 1000 bytes"));
}

TEST(MatrixReading, DevicesAndMountPointsStandOnce) {
  EXPECT_TRUE(contains(refusal_of(on_a_device("devices: [ram:1GiB]\nmatrix: {filesystem: ext4}")),
                       "m.yaml:2:1: devices: there is device too, in line 1"));
  EXPECT_TRUE(contains(refusal_of(on_a_device("defaults: {device: ram:1GiB}\nmatrix: {filesystem: ext4}")),
                       "m.yaml:1:1: device: it is in defaults too, in line 2"));
  EXPECT_TRUE(contains(refusal_of("devices: [ram:1GiB]\nmatrix: {filesystem: ext4, device: ram:2GiB}"),
                       "device: there is devices at the top too"));
  EXPECT_EQ(cells_of(parse_matrix("devices: [ram:1GiB, loop:1GiB]\nmatrix: {filesystem: ext4}", "m")),
            "ext4 ram:1GiB|ext4 loop:1GiB");
}

TEST(MatrixReading, ManyValuesInAliasesDoNotTakeLong) {
  std::string text = "device: loop:2GiB\ndefaults: {median_file_sizes: [1";
  for (int i = 2; i < 100; ++i) text += "," + std::to_string(i);
  text += "]}\nmatrix: {filesystem: ext4}\n";
  EXPECT_TRUE(contains(refusal_of(text), "more than 64 sizes")) << refusal_of(text);
  text =
      "device: loop:2GiB\nmatrix: {filesystem: [ext4, xfs]}\ninclude:\n- &a {filesystem: xfs, profile: smoke, "
      "cache: read=drop, mkfs_options: '-m reflink=0', sync: each}\n";
  for (int i = 0; i < 9999; ++i) text += "- *a\n";
  EXPECT_EQ(refusal_of(text), "");
  EXPECT_TRUE(contains(refusal_of(text + "- *a\n"), "include: 10001 are too many; at most 10000 are allowed"));
}

}  // namespace
}  // namespace mongo
