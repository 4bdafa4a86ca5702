// A profile whose numbers a run changes, and the table of all that can be said about a run.
#include "harness/plan/changed_profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <set>

#include "harness/plan/matrix_document.h"
#include "harness/plan/run_options.h"
#include "tests/unit/plan/run_request.h"

namespace mongo {
namespace {

RunRequest request() { return run_request("ext4", "loop:1GiB", "log"); }

TEST(ChangedProfile, SaysInItsNameWhatIsChanged) {
  RunRequest some = request();
  EXPECT_EQ(resolve(some).profile.name, "classic");
  some.write_size = "8KiB";
  EXPECT_EQ(resolve(some).profile.name, "classic (write-size 8192)");
  EXPECT_EQ(resolve(some).profile.write_buffer_size, 8192U);
  some.max_dir_files = "50";
  EXPECT_EQ(resolve(some).profile.name, "classic (max-dir-files 50; write-size 8192)");
  EXPECT_EQ(resolve(some).profile.passes[2].max_dir_files, 50U);
  // What the profile has anyway is no change: its results can be compared.
  some.write_size = "4096";
  some.max_dir_files = "10000";
  some.median_file_sizes = "100,1000,10000";
  EXPECT_EQ(resolve(some).profile.name, "classic");
}

TEST(ChangedProfile, OnePassForEachMedian) {
  RunRequest some = request();
  some.median_file_sizes = "100,4KiB";
  Profile profile = resolve(some).profile;
  EXPECT_EQ(profile.name, "classic (median-file-sizes 100,4096)");
  ASSERT_EQ(profile.passes.size(), 2U);
  EXPECT_EQ(profile.passes[0].bytes_to_consume, 10U << 20);  // classic's for 100
  EXPECT_EQ(profile.passes[1].median_file_size, 4096U);
  EXPECT_EQ(profile.passes[1].bytes_to_consume, 20U << 20);
  some.bytes_per_tree = "1MiB";
  profile = resolve(some).profile;
  EXPECT_EQ(profile.name, "classic (median-file-sizes 100,4096; bytes-per-tree 1048576)");
  EXPECT_EQ(profile.passes[0].bytes_to_consume, 1U << 20);
}

TEST(ChangedProfile, NumbersThatMakeNoTreeAreRefused) {
  const auto with = [](std::optional<std::string> RunRequest::*member, const char* text) {
    RunRequest some = request();
    some.*member = text;
    return refusal(some);
  };
  for (const ProfileNumber& number : profile_numbers()) {
    for (const char* text : {"", "-1", "1e3", "x", "010", "1.5", "4.0", "99999999999999999999", " 4", "+4"}) {
      const std::string message = with(number.member, text);
      EXPECT_EQ(message.rfind("--" + std::string(number.name), 0), 0U) << number.name << " " << text << ": " << message;
    }
  }
  EXPECT_NE(with(&RunRequest::median_file_sizes, "100,100").find("named twice"), std::string::npos);
  EXPECT_NE(with(&RunRequest::median_file_sizes, "100,,200").find("--median-file-sizes"), std::string::npos);
  EXPECT_NE(with(&RunRequest::write_size, "1").find("from 2 bytes to 16 MiB"), std::string::npos);
  EXPECT_NE(with(&RunRequest::write_size, "17MiB").find("from 2 bytes to 16 MiB"), std::string::npos);
  EXPECT_NE(with(&RunRequest::median_file_sizes, "1TiB").find("--max-file-size = 100000"), std::string::npos);
  EXPECT_NE(with(&RunRequest::bytes_per_tree, "1000TiB").find("more than 2147483648 files"), std::string::npos);
}

TEST(RunOptions, HaveOneNameEach) {
  std::set<std::string> names, keys;
  bool options_begin = false;
  for (const RunOption& option : run_options()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_FALSE(option.help.empty()) << option.name;
    options_begin = options_begin || !option.is_argument();
    EXPECT_NE(option.is_argument(), options_begin) << "arguments come first: " << option.name;
    if (option.key.empty()) continue;
    EXPECT_TRUE(keys.insert(option.key).second) << option.key;
    if (option.is_argument()) continue;
    std::string name = "--" + std::string(option.inverted ? "no-" : "") + option.key;
    std::replace(name.begin(), name.end(), '_', '-');
    EXPECT_EQ(option.name, name);
  }
}

/// "MOUNTPOINT", "--no-latency" and "mount_point", "latency" without what tells them apart.
std::string bare(std::string name) {
  if (name.starts_with("--")) name.erase(0, name.starts_with("--no-") ? 5 : 2);
  std::erase_if(name, [](char c) { return c == '-' || c == '_'; });
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

TEST(RunOptions, AreTheKeysOfAMatrixAndTheOtherWayRound) {
  // The matrix has its own say about where results go.
  const std::set<std::string> of_a_single_run{"LOG", "--results"};
  std::set<std::string> options, keys;
  for (const RunOption& option : run_options()) {
    EXPECT_EQ(option.key.empty(), of_a_single_run.count(option.name) == 1) << option.name;
    if (option.key.empty()) continue;
    EXPECT_EQ(bare(option.name), bare(option.key));
    options.insert(bare(option.name));
  }
  for (const MatrixKey& key : matrix_keys()) {
    if (key.name == "options") continue;  // names a set of the others
    ASSERT_NE(key.option, nullptr) << key.name;
    EXPECT_EQ(key.option->key, key.name);
    keys.insert(bare(key.name));
  }
  EXPECT_EQ(keys, options);
}

TEST(RunOptions, StandInTheReadmeAndInTheExample) {
  const auto read = [](const std::string& file) {
    std::ifstream in(std::string(MONGO_SOURCE_DIR) + file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string readme = read("/README.md"), example = read("/configs/example.yaml");
  for (const RunOption& option : run_options()) {
    const std::string row = option.is_argument() ? "\n| " + option.name + " | " : "`" + option.name;
    EXPECT_NE(readme.find(row), std::string::npos) << option.name;
    if (option.key.empty()) continue;
    const bool there = example.find("\n" + option.key + ":") != std::string::npos ||
                       example.find(" " + option.key + ": ") != std::string::npos;
    EXPECT_TRUE(there) << option.key;
  }
}

TEST(RunOptions, SetWhatTheyAreAbout) {
  for (const RunOption& option : run_options()) {
    RunRequest some;
    for (const char* text : {"true", "false"}) {
      set_member(some, option, text);
      EXPECT_EQ(member_text(some, option), text) << option.name;
    }
  }
}

}  // namespace
}  // namespace mongo
