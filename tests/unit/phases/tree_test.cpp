#include "phases/support/tree.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "naive_tree.h"
#include "phases/support/random.h"
#include "support.h"

namespace mongo::phases {
namespace {

using testing::branchy;
using testing::chain;

const std::string data_directory = std::string(MONGO_SOURCE_DIR) + "/tests/unit/phases/";

/// Relative path -> size, -1 for a directory.
struct Collector {
  std::map<std::string, long long> made;
  std::string path;
  std::size_t depth = 0;
  std::size_t deepest = 0;
  std::uint64_t bytes = 0;

  void file(std::uint64_t number, std::uint64_t size) {
    made[path + std::to_string(number)] = static_cast<long long>(size);
    bytes += size;
  }
  void enter_directory(std::uint64_t number) {
    path += "d" + std::to_string(number);
    made[path] = -1;
    path += "/";
    deepest = std::max(deepest, ++depth);
  }
  void leave_directory() {
    path.resize(path.size() - 1);
    path.resize(path.rfind('/') + 1);
    --depth;
  }

  std::string text() const {  // a std::map of strings is sorted bytewise
    std::ostringstream out;
    for (const auto& [name, size] : made) {
      out << name << '\t' << (size < 0 ? "dir" : std::to_string(size)) << '\n';
    }
    return out.str();
  }
};

struct ReferenceTree {
  std::string name;
  TreeParameters p;
  std::uint64_t files, directories, bytes, depth;
  std::string sha256;
};

std::vector<ReferenceTree> reference_trees() {
  std::vector<ReferenceTree> trees;
  std::ifstream file(data_directory + "trees.tsv");
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#' || line.starts_with("name\t")) {
      continue;
    }
    ReferenceTree t;
    std::istringstream in(line);
    in >> t.name >> t.p.bytes_to_consume >> t.p.median_file_size >> t.p.max_file_size >> t.p.median_dir_files >>
        t.p.max_dir_files >> t.p.median_dir_branching >> t.p.max_dir_branching >> t.files >> t.directories >> t.bytes >>
        t.depth >> t.sha256;
    trees.push_back(t);
  }
  return trees;
}

TEST(RandomSequence, IsTheCLibrarysAfterSrand1) {
  std::srand(1);
  RandomSequence sequence;
  for (int i = 0; i < 100000; ++i) {
    ASSERT_EQ(sequence.next(), static_cast<std::uint32_t>(std::rand())) << "draw " << i;
  }
  sequence.restart();
  EXPECT_EQ(sequence.next(), 1804289383u);
  EXPECT_EQ(sequence.next(), 846930886u);
}

TEST(RandomSequence, SeveralRunSideBySide) {
  RandomSequence a;
  RandomSequence b;
  a.next();
  EXPECT_EQ(a.next(), (b.next(), b.next()));
}

TEST(Tree, BranchyIsTheReferenceTree) {
  Collector collector;
  generate_tree(branchy(), collector);
  std::ifstream file(data_directory + "trees-branchy.tsv");
  std::string line;
  std::map<std::string, std::string> expected;
  while (std::getline(file, line)) {
    expected[line.substr(0, line.find('\t'))] = line.substr(line.find('\t') + 1);
  }
  ASSERT_EQ(expected.size(), 1173u + 38u);
  for (const auto& [name, what] : expected) {
    ASSERT_TRUE(collector.made.contains(name)) << name;
    ASSERT_EQ(what, collector.made[name] < 0 ? "dir" : std::to_string(collector.made[name])) << name;
  }
  EXPECT_EQ(collector.made.size(), expected.size());
}

TEST(Tree, AllReferenceTreesAreReproduced) {
  const auto trees = reference_trees();
  ASSERT_EQ(trees.size(), 8u);
  const testing::Scratch scratch;
  for (const ReferenceTree& t : trees) {
    SCOPED_TRACE(t.name);
    Collector collector;
    const TreePlan plan = plan_tree(t.p);
    generate_tree(t.p, collector);
    EXPECT_EQ(plan.files, t.files);
    EXPECT_EQ(plan.directories, t.directories);
    EXPECT_EQ(plan.total_bytes, t.bytes);
    EXPECT_EQ(collector.bytes, t.bytes);
    EXPECT_EQ(collector.made.size(), t.files + t.directories);
    testing::make_file(scratch / t.name, collector.text());
    EXPECT_EQ(testing::output_of("sha256sum < " + scratch / t.name).substr(0, 64), t.sha256);
  }
}

TEST(Tree, EqualsTheNaiveTreeForManyParameters) {
  std::mt19937_64 random(20240229);
  const auto up_to = [&](std::uint64_t limit) { return random() % (limit + 1); };
  // Also small numbers often, and medians above the largest.
  const auto skewed = [&](std::uint64_t limit) { return up_to(std::uint64_t{1} << up_to(30)) % (limit + 1); };
  int compared = 0;
  int deep = 0;
  int wide = 0;
  for (int i = 0; i < 1500; ++i) {
    const TreeParameters p{.bytes_to_consume = 1 + up_to(400000),
                           .median_file_size = skewed(1000),
                           .max_file_size = skewed(200000),
                           .median_dir_files = skewed(10),
                           .max_dir_files = skewed(3000),
                           .median_dir_branching = skewed(10),
                           .max_dir_branching = skewed(1000000)};
    SCOPED_TRACE(::testing::Message() << p.bytes_to_consume << " " << p.median_file_size << " " << p.max_file_size
                                      << " " << p.median_dir_files << " " << p.max_dir_files << " "
                                      << p.median_dir_branching << " " << p.max_dir_branching);
    const bool possible = testing::naive_modulus(p.median_file_size, p.max_file_size) >= 1 &&
                          testing::naive_modulus(p.median_dir_files, p.max_dir_files) >= 1 &&
                          testing::naive_modulus(p.median_dir_branching, p.max_dir_branching) >= 1;
    if (!possible) {
      EXPECT_THROW(plan_tree(p), std::invalid_argument);
      continue;
    }
    Collector collector;
    const TreePlan plan = plan_tree(p);
    generate_tree(p, collector);
    ASSERT_EQ(collector.made, testing::naive_tree(p));
    ASSERT_EQ(collector.made.size(), plan.files + plan.directories);
    ASSERT_EQ(collector.bytes, plan.total_bytes);
    ++compared;
    deep += collector.deepest > 8;
    wide += plan.directories > 1000;
  }
  EXPECT_GT(compared, 1000);
  EXPECT_GT(deep, 20);
  EXPECT_GT(wide, 20);
}

TEST(Tree, IsTheSameEveryTime) {
  Collector first;
  Collector second;
  generate_tree(branchy(), first);
  generate_tree(branchy(), second);
  EXPECT_EQ(first.made, second.made);
}

TEST(Tree, OneFileIsTheSmallestTree) {
  TreeParameters p = branchy();
  p.bytes_to_consume = 1;
  Collector collector;
  const TreePlan plan = plan_tree(p);
  generate_tree(p, collector);
  EXPECT_EQ(plan.files, 1u);
  EXPECT_EQ(plan.directories, 0u);
  EXPECT_EQ(collector.made.size(), 1u);
}

TEST(Tree, MayBeVeryDeep) {
  struct Depth {
    std::uint64_t now = 0, most = 0;
    void file(std::uint64_t, std::uint64_t) {}
    void enter_directory(std::uint64_t) { most = std::max(most, ++now); }
    void leave_directory() { --now; }
  } depth;
  generate_tree(chain(5000), depth);
  const TreePlan plan = plan_tree(chain(5000));
  EXPECT_GT(plan.directories, 4000u);
  EXPECT_EQ(plan.directories + 1, plan.files);
  EXPECT_EQ(depth.most, plan.directories);
  EXPECT_EQ(depth.now, 0u);
}

std::string refusal(TreeParameters p) {
  try {
    plan_tree(p);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Tree, ImpossibleParametersAreRefusedByName) {
  const auto with = [](auto change) {
    TreeParameters p = branchy();
    change(p);
    return refusal(p);
  };
  using P = TreeParameters;
  EXPECT_EQ(with([](P& p) { p.bytes_to_consume = 0; }), "bytes_to_consume = 0: at least 1 is needed for a tree");
  EXPECT_EQ(with([](P& p) { p.max_file_size = 0; }),
            "max_file_size = 0 with median_file_size = 500: max_file_size is too small for this median; at least 1 is "
            "needed");
  EXPECT_EQ(with([](P& p) {
              p.median_dir_files = 10000000;
              p.max_dir_files = 3;
            }),
            "max_dir_files = 3 with median_dir_files = 10000000: max_dir_files is too small for this median; at least "
            "10 is needed");
  EXPECT_EQ(with([](P& p) { p.max_dir_branching = std::uint64_t{4} << 31; }),
            "max_dir_branching = 8589934592 with median_dir_branching = 3: max_dir_branching must be less than "
            "2147483648 times (median_dir_branching + 1), which is 8589934592");
  EXPECT_EQ(with([](P& p) { p.max_dir_branching = (std::uint64_t{4} << 31) - 4; }), "accepted");
  EXPECT_NE(with([](P& p) {
              p.max_file_size = std::uint64_t{1} << 50;
              p.median_file_size = std::uint64_t{1} << 45;
            }).find("max_file_size must be smaller"),
            std::string::npos);
  EXPECT_NE(with([](P& p) {
              p.max_file_size = ~std::uint64_t{0};
              p.median_file_size = ~std::uint64_t{0} / 2000;
            }).find("median_file_size must be smaller"),
            std::string::npos);
  EXPECT_NE(with([](P& p) { p.bytes_to_consume = ~std::uint64_t{0}; }).find("bytes_to_consume"), std::string::npos);
  EXPECT_NE(with([](P& p) {
              p.max_file_size = 1;
              p.median_file_size = 1000000;
            }).find("every file would be empty"),
            std::string::npos);
  EXPECT_NE(with([](P& p) { p.bytes_to_consume = std::uint64_t{1} << 55; }).find("more than 2147483648 files"),
            std::string::npos);
  EXPECT_NE(refusal(chain(100000)).find("max_dir_branching = 1 with median_dir_branching = 1000000: each of the"),
            std::string::npos);
}

struct Nothing {
  std::uint64_t files = 0;
  void file(std::uint64_t, std::uint64_t) { ++files; }
  void enter_directory(std::uint64_t) {}
  void leave_directory() {}
};

/// By how much the memory in use grew while a tree was planned and generated, in KiB.
long growth(const TreeParameters& p, std::uint64_t at_least_files) {
  const testing::Outcome outcome = testing::run_in_child([&](Counters& counters) {
    rusage before;
    rusage after;
    Nothing nothing;
    TreeParameters small = p;
    small.bytes_to_consume = 100;
    generate_tree(small, nothing);
    getrusage(RUSAGE_SELF, &before);
    nothing.files = 0;
    plan_tree(p);
    generate_tree(p, nothing);
    getrusage(RUSAGE_SELF, &after);
    counters.files = nothing.files;
    counters.bytes = static_cast<std::uint64_t>(after.ru_maxrss - before.ru_maxrss);
  });
  EXPECT_GE(outcome.files, at_least_files);
  return static_cast<long>(outcome.bytes);
}

TEST(Tree, MemoryDoesNotGrowWithTheFiles) {
  TreeParameters p = branchy();
  p.median_file_size = 0;
  p.max_file_size = 10;
  p.bytes_to_consume = 40000000;
  p.median_dir_files = 100;
  p.max_dir_files = 10000;
  EXPECT_LT(growth(p, 2000000), 1024);
}

TEST(Tree, MemoryHardlyGrowsWithTheDirectories) {
  TreeParameters p = chain(0);
  p.median_file_size = 0;
  p.max_file_size = 10;
  p.bytes_to_consume = 16000000;
  p.median_dir_branching = 3;
  p.max_dir_branching = 20;
  EXPECT_LT(growth(p, 900000), 1024);
  p.max_dir_branching = 1000000000;  // most directories lie side by side: four bytes for each
  EXPECT_LT(growth(p, 900000), 10240);
}

}  // namespace
}  // namespace mongo::phases
