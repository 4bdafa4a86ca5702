// What a run refuses, its dry run refuses too; and what is said to people without root.
#include "tests/cases/mongo_fixture.h"

namespace mongo {
namespace {

using test::Json;
using test::MiB;

class RefusalCases : public test::MongoTest {
 protected:
  void SetUp() override {
    test::MongoTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
    test::fs::copy_file(MONGO_PROGRAM, path("mongo"));  // the build folder may be closed to others
  }

  /// The words of `argv` with mongo before them, as root or as a user without any right.
  CommandResult mongo(const Arguments& argv, bool root = true) const {
    Arguments all;
    if (!root) all = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
    all.push_back(path("mongo"));
    all.insert(all.end(), argv.begin(), argv.end());
    return test::run(all);
  }

  bool nobody_can_run_it() const { return mongo({"--version"}, false).exit_status == 0; }

  std::string folder(const std::string& name, mode_t mode = 0755) const {
    test::fs::create_directories(path(name));
    EXPECT_EQ(chmod(path(name).c_str(), mode), 0);
    return path(name);
  }

  /// A run and its dry run end with the same status and say the same.
  void expect_both(int status, const std::string& words, Arguments argv, bool root = true) {
    for (const char* option : {"--quiet", "--dry-run"}) {
      argv.emplace_back(option);
      const CommandResult result = mongo(argv, root);
      argv.pop_back();
      EXPECT_EQ(result.exit_status, status) << option << ": " << result.err;
      EXPECT_NE(result.err.find(words), std::string::npos) << option << ": " << result.err;
    }
  }

  Arguments run_of(const std::string& filesystem, const std::string& device, const std::string& point,
                   const std::string& results) const {
    return {"run", filesystem, device, point, "log", "1", "--results", results, "--profile", "smoke"};
  }
};

TEST_F(RefusalCases, DirectoriesInWhichNoRunCanWork) {
  const std::string missing = path("missing"), file = path("file"), read_only = folder("read-only");
  std::ofstream(file) << "x";
  mount("tmpfs", read_only, {"-t", "tmpfs", "-o", "ro"});
  const std::pair<std::string, std::string> cases[] = {{missing, "No such file or directory"},
                                                       {file, "it is no directory"},
                                                       {read_only, "Read-only file system"},
                                                       {"/proc", "it lies on proc, which holds no files of users"},
                                                       {"/sys", "it lies on sysfs"}};
  for (const auto& [where, why] : cases) {
    if (where == "/sys" && access("/sys", W_OK) != 0) continue;
    expect_both(3, "refusing to work in '" + where + "': " + why, run_of("dir", "none", where, results()));
    EXPECT_FALSE(test::fs::exists(results())) << where;
  }
}

TEST_F(RefusalCases, ADirectoryWithoutRoomForAFolderIsARefusal) {
  const std::string full = folder("full");
  mount("tmpfs", full, {"-t", "tmpfs", "-o", "nr_inodes=1"});
  const CommandResult result = mongo(run_of("dir", "none", full, results()));
  EXPECT_EQ(result.exit_status, 3) << result.err;
  const std::string words =
      "refusing to work in '" + full + "': no folder can be made in it: No space left on device (ENOSPC). Name";
  EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
  EXPECT_FALSE(test::fs::exists(results()));
}

TEST_F(RefusalCases, ADryRunOfADirectoryNamesItAndMountsNothing) {
  const std::string where = folder("shared");
  Arguments argv = run_of("dir", "none", where, results());
  argv.emplace_back("--dry-run");
  const CommandResult result = mongo(argv);
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with("dir on " + where + ", processes: 1,")) << result.out;
  EXPECT_EQ(result.out.find("mount"), std::string::npos) << result.out;
  EXPECT_FALSE(test::fs::exists(results()));
}

TEST_F(RefusalCases, MessagesOfDirectoryRunsNameTheDirectory) {
  const std::string small = folder("small");
  mount("tmpfs", small, {"-t", "tmpfs", "-o", "nr_inodes=100"});
  const CommandResult result = mongo(run_of("dir", "none", small, results()));
  EXPECT_EQ(result.exit_status, 5) << result.err;
  EXPECT_NE(result.err.find("mongo: dir on " + small + ": incomplete: "), std::string::npos) << result.err;
}

TEST_F(RefusalCases, ResultsThatCannotBeWritten) {
  const std::string where = folder("shared"), read_only = folder("read-only");
  std::ofstream(path("file")) << "x";
  mount("tmpfs", read_only, {"-t", "tmpfs", "-o", "ro"});
  test::fs::create_directories(path("taken/log.tbl"));
  const std::tuple<std::string, int, std::string> cases[] = {
      {path("no/such"), 2, "does not exist, and neither does the folder above it"},
      {path("file"), 2, "is not a directory"},
      {path("file/x"), 2, "inside something that is not a directory"},
      {read_only, 1, "cannot create a file in " + read_only + ": Read-only file system"},
      {read_only + "/new//", 1, "cannot make the directory " + read_only + "/new//: Read-only file system"},
      {path("taken"), 1, "cannot append to " + path("taken/log.tbl") + ": it is a directory"}};
  for (const auto& [results, status, words] : cases) {
    expect_both(status, words, run_of("dir", "none", where, results));
    expect_both(status, words, run_of("ext4", "ram:64MiB", point(), results));
  }
  EXPECT_TRUE(test::fs::is_empty(where));
}

TEST_F(RefusalCases, WithoutRoot) {
  if (!nobody_can_run_it()) GTEST_SKIP() << "the system's own folders are closed to others";
  const std::string open = folder("open", 0777), closed = folder("closed", 0755);
  expect_both(1, "formatting and mounting need root. Run the same command as root",
              run_of("ext4", "ram:64MiB", point(), open), false);
  expect_both(3, "refusing to work in '" + closed + "': Permission denied", run_of("dir", "none", closed, open), false);
  expect_both(1, "cannot create a file in " + closed, run_of("dir", "none", open, closed), false);
  expect_both(1, "cannot make the directory " + closed + "/new", run_of("dir", "none", open, closed + "/new"), false);
  EXPECT_TRUE(test::fs::is_empty(open));
}

TEST_F(RefusalCases, DevicesThatMayNotBeOpened) {
  if (!nobody_can_run_it()) GTEST_SKIP() << "the system's own folders are closed to others";
  const std::string node = device(64 * MiB);
  ASSERT_EQ(chmod(node.c_str(), 0600), 0);
  const Json all = Json::parse(mongo({"devices", "--json"}, false).out);
  const auto item = std::find_if(all.begin(), all.end(), [&](const Json& each) { return each.at("device") == node; });
  ASSERT_NE(item, all.end());
  EXPECT_EQ(item->at("size_bytes"), 64 * MiB);
  EXPECT_TRUE(item->at("major_minor").get<std::string>().starts_with("7:")) << *item;
  EXPECT_EQ(item->at("contents"), nullptr);
  EXPECT_NE(item->at("contents_unknown").get<std::string>().find("Permission denied"), std::string::npos) << *item;
  const std::string text = mongo({"devices"}, false).out;
  const std::size_t at = text.find(node + " ");
  ASSERT_NE(at, std::string::npos) << text;
  const std::string line = text.substr(at, text.find('\n', at) - at);
  EXPECT_NE(line.find(" 64.0 MiB "), std::string::npos) << line;
  EXPECT_NE(line.find(" unknown "), std::string::npos) << line;
}

TEST_F(RefusalCases, DoctorWithoutRoot) {
  if (!nobody_can_run_it()) GTEST_SKIP() << "the system's own folders are closed to others";
  const std::string closed = folder("closed", 0755);
  const std::string text = mongo({"doctor", "--results", closed + "/results"}, false).out;
  const auto expect = [&](const std::string& words) {
    EXPECT_NE(text.find(words), std::string::npos) << words << " in: " << text;
  };
  expect("  results       " + closed + "/results cannot be made in " + closed +
         ": Permission denied (EACCES). Name another folder with --results, or make it writable\n");
  expect("formatting and mounting need root. Run as root");
  if (slurp("/proc/filesystems").find("\text4\n") != std::string::npos) expect("can be run here, as root\n");
  struct stat info {};
  ASSERT_EQ(stat("/dev/loop-control", &info), 0);
  if ((info.st_mode & 06) == 0) expect("/dev/loop-control: Permission denied (EACCES). Run as root\n");
}

TEST_F(RefusalCases, WhatOnlyAGuestCanRun) {
  if (slurp("/proc/filesystems").find("\treiserfs\n") != std::string::npos) GTEST_SKIP() << "this kernel has reiserfs";
  const CommandResult there = mongo_run("reiserfs", "ram:64MiB", {"--dry-run", "--environment", "uml"});
  if (there.exit_status != 0) GTEST_SKIP() << there.err;
  const CommandResult here = mongo_run("reiserfs", "ram:64MiB", {"--environment", "host"});
  EXPECT_EQ(here.exit_status, 4) << here.err;
  EXPECT_NE(here.err.find("Or leave out --environment host: a guest can run it"), std::string::npos) << here.err;
}

TEST_F(RefusalCases, AnUnclosedQuoteNamesItsOption) {
  const CommandResult result = mongo_run("ext4", "ram:64MiB", {"--mkfs-options", "'-N 400"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_NE(result.err.find("--mkfs-options: ''-N 400': the quote ' at character 1 is not closed"), std::string::npos)
      << result.err;
}

}  // namespace
}  // namespace mongo
