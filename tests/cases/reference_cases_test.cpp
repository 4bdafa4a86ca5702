// Cases about ratios and the published tables. They need neither root nor a device.
#include <cstdlib>

#include "harness/report/record_json.h"
#include "tests/cases/mongo_fixture.h"

namespace mongo {
namespace {

const std::string reference = std::string(MONGO_SOURCE_DIR) + "/results/reference";

/// Records that were made up, in a folder that is gone afterwards.
class ReferenceCases : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/var/tmp/mongo-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    if (!folder_.empty()) test::fs::remove_all(folder_);
  }

  /// A file with a run of classic at 100 bytes, all phases of which took so long.
  std::string record(const std::string& filesystem, double seconds, const std::string& environment = "host") {
    RunRecord run;
    run.run_id = "made-up-" + filesystem;
    run.log = filesystem;
    run.filesystem = filesystem;
    run.environment = environment;
    run.profile = "classic";
    PassRecord pass;
    pass.median_file_size_bytes = 100;
    pass.planned_files = 68952;
    pass.files = 68952;
    pass.directories = 242;
    for (const auto& [phase, label] : std::vector<std::pair<std::string, std::string>>{
             {"create", "Create"}, {"copy", "Copy"}, {"symlink", "Slinks"}, {"delete", "Delete"}}) {
      PhaseRecord one;
      one.name = phase;
      one.label = label;
      one.seconds = seconds;
      one.repetition_seconds = {seconds};
      one.operations = 34476;
      one.planned_operations = 34476;
      pass.phases.push_back(one);
    }
    run.passes = {pass};
    const std::string file = folder_ + "/" + filesystem + "-" + environment + ".jsonl";
    std::ofstream(file) << to_json_line(run) << "\n";
    return file;
  }

  /// mongo compare ARGUMENTS in that folder.
  static CommandResult compare_in(const std::string& folder, const std::vector<std::string>& arguments) {
    std::vector<std::string> argv{"sh", "-c", "cd \"$0\" && exec \"$@\"", folder, MONGO_PROGRAM, "compare"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return test::run(std::move(argv));
  }
  CommandResult compare(const std::vector<std::string>& arguments) const { return compare_in(folder_, arguments); }

  static void expect_refused(const CommandResult& result, const std::string& words) {
    EXPECT_EQ(result.exit_status, 2) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
  }

  /// The first row of that label, with single blanks.
  static std::string row(const std::string& text, const std::string& label) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string out, word;
      while (words >> word) out += (out.empty() ? "" : " ") + word;
      if (out.starts_with(label + " ")) return out;
    }
    return "";
  }

  std::string folder_;
};

TEST_F(ReferenceCases, PublishedRatiosStandBesideMeasuredOnes) {
  const std::vector<std::string> arguments{"--published", record("xfs", 4), record("ext3", 1)};
  const CommandResult result = compare_in(MONGO_SOURCE_DIR, arguments);
  ASSERT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  // xfs measured and published, ext3 measured and published, reiserfs published.
  EXPECT_EQ(row(result.out, "Create"), "Create 1.00 1.00 0.25 0.34 0.20") << result.out;
  EXPECT_EQ(row(result.out, "Delete"), "Delete 1.00 1.00 0.25 0.0611 0.22");
  for (const char* size : {"100", "1000", "10000"}) {
    EXPECT_NE(result.out.find(std::string("\nFiles of median size ") + size + " bytes\n"), std::string::npos);
  }
  EXPECT_NE(result.out.find("Times of 2001 and of today have nothing to do with each other"), std::string::npos);
  EXPECT_EQ(result.out.find("warning"), std::string::npos);

  std::vector<std::string> elsewhere{"--reference", reference};
  elsewhere.insert(elsewhere.end(), arguments.begin(), arguments.end());
  EXPECT_EQ(compare(elsewhere).out, result.out);
}

TEST_F(ReferenceCases, WhereTheTablesAreHasToBeKnown) {
  const std::string xfs = record("xfs", 4);
  const CommandResult result = compare({"--published", xfs});
  if (result.exit_status != 0) expect_refused(result, "--reference");  // else they are installed here
  expect_refused(compare({"--published", "--reference", folder_ + "/none", xfs}), "cannot read the folder");
  test::fs::create_directory(folder_ + "/empty");
  expect_refused(compare({"--published", "--reference", folder_ + "/empty", xfs}), "holds no .jsonl files");
}

TEST_F(ReferenceCases, WhatCannotBeSetBesideTheTablesIsRefused) {
  const std::string xfs = record("xfs", 4);
  const std::string guest = record("ext3", 40, "uml");
  const std::vector<std::string> from{"--published", "--reference", reference};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = from;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return compare(arguments);
  };
  expect_refused(with({xfs, guest}), "--across-environments");
  EXPECT_EQ(with({xfs, guest, "--across-environments"}).exit_status, 0);
  EXPECT_EQ(with({guest}).exit_status, 0) << "the published ratios are their own";
  expect_refused(with({record("btrfs", 1), xfs}), "the published tables have only ext3, reiserfs, xfs");
  expect_refused(with({xfs, "--ratios"}), "--ratios");
  expect_refused(compare({"--reference", reference, xfs}), "--published");
}

TEST_F(ReferenceCases, RatiosToTheFirstRun) {
  const CommandResult result = compare({"--ratios", record("ext4", 2), record("btrfs", 5)});
  ASSERT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(row(result.out, "Create"), "Create 1.00* 2.50");
  EXPECT_NE(result.out.find("ratios to those of the first run, ext4"), std::string::npos);
}

}  // namespace
}  // namespace mongo
