#include "harness/plan/cell.h"

#include <gtest/gtest.h>

#include "tests/unit/plan/run_request.h"

namespace mongo {
namespace {

RunRequest request() { return run_request("ext3", "/dev/sdb1", "logext3"); }

TEST(Cell, TheMainJobIsThePublishedWorkload) {
  const Cell cell = resolve(request());
  EXPECT_EQ(cell.driver->name, "ext3");
  EXPECT_EQ(cell.profile.name, "classic");
  EXPECT_EQ(cell.repetitions, 3);
  ASSERT_EQ(cell.profile.passes.size(), 3U);
  EXPECT_EQ(cell.profile.passes[2].median_file_size, 10000U);
  EXPECT_EQ(cell.profile.passes[2].bytes_to_consume, 20971520U);
  std::vector<std::string> names;
  for (const auto* phase : cell.phases) names.emplace_back(phase->name);
  EXPECT_EQ(names, (std::vector<std::string>{"create", "copy", "symlink", "read", "stat", "rename", "delete"}));
}

TEST(Cell, ProcessesIsAWholeDecimalNumber) {
  for (const char* text : {"0", "-1", "abc", "1.5", " 4", "+4", "4 ", "010", "1e1", "1000000", "99999999999999999999",
                           "", "0x4", "1001"}) {
    RunRequest bad = request();
    bad.processes = text;
    const std::string message = refusal(bad);
    EXPECT_NE(message.find("PROCESSES '" + std::string(text) + "'"), std::string::npos) << text << ": " << message;
    EXPECT_NE(message.find("1 to 1000"), std::string::npos) << message;
  }
  RunRequest good = request();
  good.processes = "1000";
  EXPECT_EQ(resolve(good).processes, 1000);
}

TEST(Cell, NamesWhatIsNotKnownAndWhatIsNear) {
  RunRequest bad = request();
  bad.filesystem = "etx3";
  EXPECT_NE(refusal(bad).find("did you mean ext3?"), std::string::npos);
  bad.filesystem = "no";
  EXPECT_NE(refusal(bad).find("There are: btrfs, dir, ext2, ext3, ext4"), std::string::npos);
  bad = request();
  bad.profile = "clasic";
  EXPECT_NE(refusal(bad).find("did you mean classic?"), std::string::npos);
  bad = request();
  bad.phases = "create,raed";
  EXPECT_NE(refusal(bad).find("did you mean read?"), std::string::npos);
}

TEST(Cell, PhasesRunInTheirOrderAndNeedATree) {
  RunRequest some = request();
  some.phases = "delete,create";
  const Cell cell = resolve(some);
  ASSERT_EQ(cell.phases.size(), 2U);
  EXPECT_STREQ(cell.phases[0]->name, "create");
  some.phases = "read";
  EXPECT_NE(refusal(some).find("add create"), std::string::npos);
  some.phases = "create,create";
  EXPECT_NE(refusal(some).find("named twice"), std::string::npos);
  some.phases = "";
  EXPECT_NE(refusal(some).find("no phase"), std::string::npos);
}

TEST(Cell, SmokeHasOneRepetitionUnlessTold) {
  RunRequest smoke = request();
  smoke.profile = "smoke";
  EXPECT_EQ(resolve(smoke).repetitions, 1);
  smoke.repetitions = "2";
  EXPECT_EQ(resolve(smoke).repetitions, 2);
  smoke.repetitions = "0";
  EXPECT_NE(refusal(smoke).find("--repetitions '0'"), std::string::npos);
}

TEST(Cell, EmptyArgumentsAreRefused) {
  RunRequest bad = request();
  bad.device = "";
  EXPECT_NE(refusal(bad).find("DEVICE is empty"), std::string::npos);
  bad = request();
  bad.mount_point = "";
  EXPECT_NE(refusal(bad).find("MOUNTPOINT is empty"), std::string::npos);
  bad = request();
  bad.mount_options = "noatime,,ro";
  EXPECT_NE(refusal(bad).find("is empty"), std::string::npos);
}

TEST(Cell, DescribesItsPasses) {
  const Cell cell = resolve(request());
  EXPECT_NE(describe_pass(cell, cell.profile.passes[0]).find("3 trees of 11492 files in 39 directories"),
            std::string::npos);
}

}  // namespace
}  // namespace mongo
