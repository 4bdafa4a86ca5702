#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <string>

#include "phases/catalogue.h"
#include "phases/phase.h"
#include "phases/support/current_path.h"

namespace mongo::phases {
namespace {

TEST(Counters, OneKindIsAnOperationAndAnErrno) {
  Counters counters;
  counters.count_error(Operation::write, ENOSPC, "testdir1-1-1", "7");
  counters.count_error(Operation::write, ENOSPC, "testdir1-1-1", "8");
  counters.count_error(Operation::create, ENOSPC, "testdir1-1-1/d0", "9");
  counters.count_error(Operation::write, EIO, "", "10");
  counters.count_error(Operation::read_directory, EIO, "testdir1-1-1", "");
  ASSERT_EQ(counters.error_kinds, 4u);
  EXPECT_EQ(counters.errors[0].count, 2u);
  EXPECT_STREQ(counters.errors[0].first_path, "testdir1-1-1/7");
  EXPECT_EQ(counters.errors[1].count, 1u);
  EXPECT_STREQ(counters.errors[1].first_path, "testdir1-1-1/d0/9");
  EXPECT_STREQ(counters.errors[2].first_path, "10");
  EXPECT_STREQ(counters.errors[3].first_path, "testdir1-1-1");
  EXPECT_EQ(counters.errors_not_kept, 0u);
}

TEST(Counters, FurtherKindsAreCountedTogether) {
  Counters counters;
  for (int error = 1; error <= 20; ++error) {
    counters.count_error(Operation::open, error, "a", "b");
  }
  counters.count_error(Operation::open, 3, "a", "b");
  EXPECT_EQ(counters.error_kinds, 16u);
  EXPECT_EQ(counters.errors_not_kept, 4u);
  EXPECT_EQ(counters.errors[2].count, 2u);
}

TEST(Counters, LongPathsAreCutAtTheFront) {
  for (const std::size_t length : {230u, 236u, 237u, 238u, 239u, 240u, 241u, 5000u}) {
    Counters counters;
    const std::string prefix(length, 'p');
    counters.count_error(Operation::open, EIO, prefix.c_str(), "xy");
    const std::string whole = prefix + "/xy";
    const std::string expected = whole.size() > 239 ? whole.substr(whole.size() - 239) : whole;
    EXPECT_EQ(counters.errors[0].first_path, expected) << length;
  }
  Counters counters;
  const std::string name(300, 'n');
  counters.count_error(Operation::open, EIO, "prefix", name.c_str());
  EXPECT_EQ(counters.errors[0].first_path, name.substr(61));
}

TEST(Operations, EachHasANameOfItsOwn) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < operation_count; ++i) {
    names.insert(operation_name(static_cast<Operation>(i)));
  }
  EXPECT_EQ(names.size(), operation_count);
  EXPECT_FALSE(names.contains("unknown"));
  EXPECT_STREQ(operation_name(Operation::read_directory), "read_directory");
  EXPECT_STREQ(operation_name(Operation::fsync), "fsync");
  EXPECT_STREQ(operation_name(Operation::verify), "verify");
}

TEST(CurrentPath, FollowsTheWay) {
  CurrentPath path("/mnt/test//");
  EXPECT_STREQ(path.relative(), "");
  EXPECT_STREQ(path.absolute_path_of("f"), "/mnt/test/f");
  path.enter("a");
  path.enter("b");
  EXPECT_STREQ(path.relative(), "a/b");
  EXPECT_STREQ(path.name(), "b");
  EXPECT_STREQ(path.absolute_path_of("f"), "/mnt/test/a/b/f");
  path.leave();
  EXPECT_STREQ(path.relative(), "a");
  path.return_to_mount_point();
  EXPECT_STREQ(path.relative(), "");

  CurrentPath root("/");
  EXPECT_STREQ(root.absolute_path_of("f"), "/f");
  root.enter("a");
  EXPECT_STREQ(root.relative(), "a");
  EXPECT_STREQ(root.absolute_path_of("f"), "/a/f");
}

TEST(Catalogue, SevenPhasesInTheirOrder) {
  std::string names;
  std::string labels;
  for (const Phase* phase : catalogue()) {
    names += std::string(phase->name) + " ";
    labels += std::string(phase->label) + " ";
    EXPECT_LE(std::strlen(phase->label), 6u);
    EXPECT_NE(phase->planned_files, nullptr);
    EXPECT_NE(phase->run, nullptr);
    EXPECT_GT(std::strlen(phase->summary), 0u);
    EXPECT_EQ(find(phase->name), phase);
  }
  EXPECT_EQ(names, "create copy symlink read stat rename delete ");
  EXPECT_EQ(labels, "Create Copy Slinks Read Stats Rename Delete ");
  EXPECT_EQ(find("Create"), nullptr);
  EXPECT_EQ(find(""), nullptr);
}

TEST(Catalogue, PlannedFiles) {
  const Expectation all{.files_per_tree = 10, .trees = 6, .copied = true, .linked = true};
  const Expectation only_created{.files_per_tree = 10, .trees = 6, .copied = false, .linked = false};
  const auto planned = [](const char* name, const Expectation& e) { return find(name)->planned_files(e); };
  for (const char* name : {"create", "copy", "symlink", "rename"}) {
    EXPECT_EQ(planned(name, all), 10u) << name;
  }
  for (const char* name : {"read", "stat"}) {
    EXPECT_EQ(planned(name, all), 120u) << name;
    EXPECT_EQ(planned(name, only_created), 60u) << name;
  }
  EXPECT_EQ(planned("delete", all), 30u);
  EXPECT_EQ(planned("delete", only_created), 10u);
}

TEST(TreeDirectory, IsNamedLikeTheOriginals) {
  EXPECT_EQ(tree_directory(1, 2, 3), "testdir1-2-3");
  EXPECT_EQ(tree_directory(2, 10, 64), "testdir2-10-64");
}

}  // namespace
}  // namespace mongo::phases
