// Which ZFS there is, with made-up programs and nodes.
#include "harness/device/zfs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/filesystem.hpp>
#include <fstream>
#include <map>

#include "harness/core/errors.h"
#include "harness/device/pool.h"
#include "harness/device/zfs_daemon.h"

namespace mongo {
namespace {

namespace fs = boost::filesystem;

/// Answers by the first two words of the command; everything else fails.
class FakeRunner : public ProcessRunner {
 public:
  CommandResult run(const Command& command) override {
    asked.push_back(command.argv.at(0) + (command.argv.size() > 1 ? " " + command.argv[1] : ""));
    const auto answer = answers.find(asked.back());
    if (answer != answers.end()) return answer->second;
    CommandResult failed;
    failed.exit_status = 1;
    failed.err = "connect: No such file or directory\nPlease make sure that the zfs-fuse daemon is running.\n";
    return failed;
  }
  void says(const std::string& command, const std::string& text) { answers[command].out = text; }
  void fails(const std::string& command, const std::string& text) {
    answers[command].exit_status = 1;
    answers[command].err = text;
  }
  std::map<std::string, CommandResult> answers;
  std::vector<std::string> asked;
};

class FindZfs : public testing::Test {
 protected:
  void SetUp() override {
    root_ = (fs::temp_directory_path() / fs::unique_path("mongo-zfs-%%%%%%%%")).string() + "/";
    fs::create_directories(root_ + "bin");
    path_ = getenv("PATH");
    setenv("PATH", (root_ + "bin:" + path_).c_str(), 1);
    for (const char* name : {"zpool", "zfs"}) program(name);
  }
  void TearDown() override {
    setenv("PATH", path_.c_str(), 1);
    fs::remove_all(root_);
  }
  void program(const std::string& name) {
    file("bin/" + name);
    chmod((root_ + "bin/" + name).c_str(), 0755);
  }
  void file(const std::string& name, const std::string& text = "") {
    fs::create_directories(fs::path(root_ + name).parent_path());
    std::ofstream(root_ + name) << text;
  }
  std::string root_, path_;
  FakeRunner runner_;
};

TEST_F(FindZfs, OpenZfsWhereTheModuleAnswers) {
  file("sys/module/zfs/version", "2.1.11-1\n");
  file("dev/zfs");
  runner_.says("zpool list", "tank\n");
  runner_.says("zfs version", "zfs-2.1.11-1\nzfs-kmod-2.1.11-1\n");
  const ZfsImplementation found = find_zfs(runner_, false, root_);
  EXPECT_EQ(found.kind, ZfsImplementation::Kind::openzfs);
  EXPECT_EQ(found.version, "zfs-2.1.11-1, zfs-kmod-2.1.11-1");
  EXPECT_EQ(found.mount_type(), "zfs");
  EXPECT_EQ(found.why_not, "");
}

TEST_F(FindZfs, ZpoolIsNotAskedWithoutTheModule) {
  program("zfs-fuse");
  file("dev/fuse");
  find_zfs(runner_, true, root_);
  for (const std::string& asked : runner_.asked) {
    EXPECT_NE(asked.substr(0, 5), "zpool") << "it would load a module";
    EXPECT_NE(asked.substr(0, 8), "modprobe") << "the programs of zfs-fuse do not know the module";
  }
}

TEST_F(FindZfs, ZfsFuseWhereTheModuleDoesNotAnswerItsZpool) {
  program("zfs-fuse");
  program("dpkg-query");
  file("sys/module/zfs/version");
  file("dev/zfs");
  file("dev/fuse");
  runner_.says("dpkg-query -W", "0.7.0-25+b1");
  const ZfsImplementation found = find_zfs(runner_, false, root_);
  EXPECT_EQ(found.kind, ZfsImplementation::Kind::zfs_fuse);
  EXPECT_EQ(found.version, "zfs-fuse 0.7.0-25+b1");
  EXPECT_EQ(found.mount_type(), "fuse.zfs");
}

TEST_F(FindZfs, SaysWhatIsMissing) {
  program("zfs-fuse");
  const ZfsImplementation found = find_zfs(runner_, false, root_);
  EXPECT_EQ(found.kind, ZfsImplementation::Kind::none);
  EXPECT_NE(found.why_not.find("/dev/fuse"), std::string::npos) << found.why_not;
}

TEST(PoolIsImported, NoPoolAndNobodyToAskAreTheSame) {
  FakeRunner runner;
  EXPECT_FALSE(pool_is_imported(runner, "mongo-x"));
  runner.fails("zpool list", "cannot open 'mongo-x': no such pool\n");
  EXPECT_FALSE(pool_is_imported(runner, "mongo-x"));
  runner.fails("zpool list",
               "The ZFS modules are not loaded.\nTry running '/sbin/modprobe zfs' as root to load them.\n");
  EXPECT_FALSE(pool_is_imported(runner, "mongo-x"));
  runner.says("zpool list", "mongo-x\n");
  runner.answers["zpool list"].exit_status = 0;
  EXPECT_TRUE(pool_is_imported(runner, "mongo-x"));
  runner.fails("zpool list", "out of memory\n");
  EXPECT_THROW(pool_is_imported(runner, "mongo-x"), RunError);
}

TEST(ZfsDaemon, SettingsAreThoseOfTheFileWithoutRemarks) {
  const std::string file = (fs::temp_directory_path() / fs::unique_path("mongo-zfsrc-%%%%%%%%")).string();
  std::ofstream(file) << "# max-arc-size : this is the main cache\nmax-arc-size = 100\n\n  zfs-prefetch-disable  \n";
  EXPECT_EQ(ZfsDaemon::settings(file), "max-arc-size = 100, zfs-prefetch-disable");
  fs::remove(file);
  EXPECT_EQ(ZfsDaemon::settings(file), "");
}

}  // namespace
}  // namespace mongo
