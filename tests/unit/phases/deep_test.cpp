#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <string>

#include "phases/support/tree.h"
#include "support.h"

namespace mongo::phases {
namespace {

using testing::chain;
using testing::Outcome;
using testing::run_phase;
using testing::Scratch;
using testing::Settings;
using testing::text;

void allow_few_descriptors() {
  const rlimit few{64, 64};
  setrlimit(RLIMIT_NOFILE, &few);
}

std::string done(std::uint64_t files, std::uint64_t bytes) {
  return std::to_string(files) + " files, " + std::to_string(bytes) + " bytes";
}

TEST(DeepTree, AllPhasesBeyondPathMaxWithFewDescriptors) {
  const Scratch scratch;
  const Settings settings{.tree = chain(2000), .prepare = allow_few_descriptors};
  const TreePlan plan = plan_tree(settings.tree);
  ASSERT_GT(plan.directories, 1500u);
  const std::uint64_t n = plan.files;
  EXPECT_EQ(text(run_phase("create", scratch, settings)), done(n, plan.total_bytes));
  EXPECT_EQ(text(run_phase("copy", scratch, settings)), done(n, plan.total_bytes));

  // Targets beyond PATH_MAX cannot be linked to, which is counted.
  const Outcome linked = run_phase("symlink", scratch, settings);
  ASSERT_EQ(linked.failures.size(), 1u);
  EXPECT_EQ(linked.failures[0].operation, "symlink");
  EXPECT_EQ(linked.failures[0].error_number, ENAMETOOLONG);
  EXPECT_EQ(linked.failures[0].count, n - linked.files);
  EXPECT_GT(linked.files, 100u);  // XFS takes 1023 bytes only

  EXPECT_EQ(text(run_phase("read", scratch, settings)), done(2 * n, 2 * plan.total_bytes));
  EXPECT_EQ(text(run_phase("stat", scratch, settings)), done(2 * n, 0));
  EXPECT_EQ(text(run_phase("rename", scratch, settings)), done(n, 0));
  EXPECT_EQ(testing::output_of("find " + scratch.path() + " -type f -name '*.r' | wc -l"), std::to_string(n) + "\n");
  EXPECT_EQ(text(run_phase("delete", scratch, settings)), done(2 * n + linked.files, 0));
  EXPECT_EQ(testing::output_of("ls -A " + scratch.path()), "");
}

}  // namespace
}  // namespace mongo::phases
