#include "harness/report/append.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <iostream>

#include "harness/core/errors.h"
#include "harness/report/catalogue.h"
#include "harness/report/record_json.h"
#include "tests/unit/report/old_reader.h"
#include "tests/unit/report/samples.h"

namespace mongo {
namespace {

namespace fs = std::filesystem;

constexpr const char* suffixes[] = {".jsonl", "", ".tbl", "_table"};

std::string failure(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Does something in a process of its own, whose limits and mounts go with it. Returns its exit status: 0 for success,
/// 77 for what cannot be done here.
int in_child(const std::function<int()>& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 99;
    try {
      status = action();
    } catch (const std::exception& error) {
      std::cerr << "child: " << error.what() << "\n";
    }
    ::_exit(status);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

class AppendTest : public testing::Test {
 protected:
  std::string dir() const { return folder_.path().string(); }
  fs::path file(const std::string& suffix) const { return folder_.path() / ("log" + suffix); }
  std::string text(const std::string& suffix) const {
    return fs::exists(file(suffix)) ? samples::read_file(file(suffix)) : "";
  }
  std::vector<std::string> all_texts() const {
    std::vector<std::string> out;
    for (const char* suffix : suffixes) out.push_back(text(suffix));
    return out;
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }
  /// The number of runs in each file, for runs of one pass.
  std::vector<std::size_t> runs() const {
    std::size_t records = 0;
    if (!text(".jsonl").empty()) records = read_records(file(".jsonl").string()).records.size();
    return {records, old_reader::read_log(text("")).size(), old_reader::read_tbl(text(".tbl")).size(),
            old_reader::read_table(text("_table")).size()};
  }
  static std::vector<std::size_t> each(std::size_t count) { return {count, count, count, count}; }

  samples::TemporaryFolder folder_;
};

TEST_F(AppendTest, TwoRunsAreTwoBlocksInEveryFile) {
  append_run(dir(), "log", samples::out_of_inodes());
  EXPECT_EQ(runs(), each(1));
  const std::vector<std::string> first = all_texts();
  RunRecord second = samples::unsupported();
  second.run_id = "20261201T000000Z-000000";
  append_run(dir(), "log", second);
  EXPECT_EQ(runs(), each(2));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(all_texts()[i].starts_with(first[i]));
    EXPECT_NE(all_texts()[i].find(second.run_id), std::string::npos);
  }
  EXPECT_EQ(entries(), 4U);
}

TEST_F(AppendTest, NewFilesCanBeReadByAll) {
  const mode_t before = ::umask(022);
  append_run(dir(), "log", samples::minimal());
  ::umask(before);
  for (const char* suffix : suffixes) {
    struct stat info {};
    ASSERT_EQ(::stat(file(suffix).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777U, 0644U) << suffix;
  }
}

TEST_F(AppendTest, AfterALineThatWasCutShort) {
  append_run(dir(), "log", samples::out_of_inodes());
  const std::string whole = text(".jsonl");
  std::ofstream(file(".jsonl"), std::ios::app) << whole.substr(0, 100);
  append_run(dir(), "log", samples::out_of_inodes());
  const RecordFile read = read_records(file(".jsonl").string());
  EXPECT_EQ(read.records.size(), 2U);
  EXPECT_EQ(read.warnings.size(), 1U);
  EXPECT_EQ(text(".jsonl"), whole + whole.substr(0, 100) + "\n" + whole);
}

TEST_F(AppendTest, RefusesWhatIsNoRegularFile) {
  const fs::path elsewhere = folder_.path() / "elsewhere";
  std::ofstream(elsewhere) << "precious";
  fs::create_symlink(elsewhere, file(".tbl"));
  const std::string path = file(".tbl").string();
  const std::string link = "results: cannot append to " + path + ": it is a symbolic link, and these are not followed";
  EXPECT_EQ(failure([&] { check_results_writable(dir(), "log"); }), link);
  EXPECT_EQ(failure([&] { append_run(dir(), "log", samples::full()); }),
            link + "; the run was added to none of the files");
  EXPECT_EQ(samples::read_file(elsewhere), "precious");
  EXPECT_EQ(entries(), 2U);

  fs::remove(file(".tbl"));
  ASSERT_EQ(::mkfifo(file(".tbl").c_str(), 0600), 0);
  EXPECT_EQ(failure([&] { check_results_writable(dir(), "log"); }),
            "results: cannot append to " + path + ": it is not a regular file");
  fs::remove(file(".tbl"));
  fs::create_directory(file(".tbl"));
  EXPECT_EQ(failure([&] { check_results_writable(dir(), "log"); }),
            "results: cannot append to " + path + ": it is a directory");
}

TEST_F(AppendTest, ALogThatCannotBeLookedAtLosesNothing) {
  append_run(dir(), "log", samples::full());
  const std::vector<std::string> before = all_texts();
  fs::remove(file("_table"));
  fs::create_directory(file("_table"));
  EXPECT_NE(failure([&] { append_run(dir(), "log", samples::full()); }), "");
  fs::remove(file("_table"));
  EXPECT_EQ(text(".jsonl"), before[0]);
  EXPECT_EQ(text(""), before[1]);
  EXPECT_EQ(text(".tbl"), before[2]);
}

// Each of the four files in its turn meets the limit of file sizes.
class FailingFile : public AppendTest, public testing::WithParamInterface<const char*> {};

TEST_P(FailingFile, LeavesTheFourInAgreement) {
  append_run(dir(), "log", samples::out_of_inodes());
  constexpr rlim_t limit = 1U << 20U;
  // Long enough that only a part of the next block fits. It is no block of its own.
  std::ofstream(file(GetParam()), std::ios::app) << "\n"
                                                 << std::string(limit - text(GetParam()).size() - 100, '#') << "\n";
  const std::vector<std::string> before = all_texts();
  const std::string failing = file(GetParam()).string();
  const int status = in_child([&] {
    if (::signal(SIGXFSZ, SIG_IGN) == SIG_ERR) return 77;
    const rlimit small = {limit, limit};
    if (::setrlimit(RLIMIT_FSIZE, &small) != 0) return 77;
    const std::string message = failure([&] { append_run(dir(), "log", samples::out_of_inodes()); });
    const bool right = message.starts_with("results: cannot append to " + failing + ": ") &&
                       message.find("EFBIG") != std::string::npos &&
                       message.ends_with("; the run was added to none of the files");
    if (!right) std::cerr << "message: " << message << "\n";
    return right ? 0 : 1;
  });
  if (status == 77) GTEST_SKIP() << "the limit of file sizes cannot be set here";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(all_texts(), before);
  EXPECT_EQ(runs(), each(1));
  append_run(dir(), "log", samples::out_of_inodes());
  EXPECT_EQ(runs(), each(2));
}

INSTANTIATE_TEST_SUITE_P(EachOfTheFour, FailingFile, testing::ValuesIn(suffixes),
                         [](const auto& param_info) { return "number_" + std::to_string(param_info.index + 1); });

TEST_F(AppendTest, NewFilesVanishWhenTheFirstRunCannotBeWritten) {
  const int status = in_child([&] {
    if (::signal(SIGXFSZ, SIG_IGN) == SIG_ERR) return 77;
    const rlimit small = {2000, 2000};  // the .jsonl line of a full record does not fit
    if (::setrlimit(RLIMIT_FSIZE, &small) != 0) return 77;
    return failure([&] { append_run(dir(), "log", samples::full()); }).empty() ? 1 : 0;
  });
  if (status == 77) GTEST_SKIP() << "the limit of file sizes cannot be set here";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(entries(), 0U);
}

/// A full disk: a small tmpfs in a mount namespace that ends with the child.
int on_small_tmpfs(const std::string& dir, const std::function<int()>& action) {
  return in_child([&] {
    if (::unshare(CLONE_NEWNS) != 0) return 77;
    // EINVAL: "/" is no mount, as in a chroot; then the tmpfs is unmounted below.
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 && errno != EINVAL) return 77;
    if (::mount("tmpfs", dir.c_str(), "tmpfs", 0, "size=256k") != 0) return 77;
    const int status = action();
    ::umount2(dir.c_str(), MNT_DETACH);
    return status;
  });
}

TEST_F(AppendTest, AFullDiskLeavesTheFourInAgreement) {
  const int status = on_small_tmpfs(dir(), [&] {
    std::size_t added = 0;
    std::string message;
    while (message.empty() && added < 1000) {
      message = failure([&] { append_run(dir(), "log", samples::out_of_inodes()); });
      if (message.empty()) ++added;
    }
    if (added == 0 || added == 1000 || message.find("No space left on device (ENOSPC)") == std::string::npos) {
      std::cerr << added << " runs, then: " << message << "\n";
      return 1;
    }
    if (runs() != each(added)) return 2;
    // Nor would a run be begun now.
    if (failure([&] { check_results_writable(dir(), "log"); }).find("ENOSPC") == std::string::npos) return 3;
    return entries() == 4 ? 0 : 4;
  });
  if (status == 77) GTEST_SKIP() << "a tmpfs cannot be mounted here";
  EXPECT_EQ(status, 0);
}

TEST_F(AppendTest, AReadOnlyFolderIsRefusedBeforeTheRun) {
  const int status = on_small_tmpfs(dir(), [&] {
    if (::mount(nullptr, dir().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0) return 77;
    const std::string message = failure([&] { check_results_writable(dir(), "log"); });
    return message.find("(EROFS)") != std::string::npos ? 0 : 1;
  });
  if (status == 77) GTEST_SKIP() << "a tmpfs cannot be mounted here";
  EXPECT_EQ(status, 0);
}

TEST_F(AppendTest, TwoProcessesAtTheSameTime) {
  constexpr std::size_t runs_of_each = 100;
  std::vector<pid_t> children;
  for (int process = 0; process < 2; ++process) {
    const pid_t child = ::fork();
    if (child == 0) {
      int status = 0;
      for (std::size_t i = 0; i < runs_of_each; ++i) {
        RunRecord record = samples::out_of_inodes();
        record.run_id = std::to_string(process) + "-" + std::to_string(i);
        if (!failure([&] { append_run(dir(), "log", record); }).empty()) status = 1;
      }
      ::_exit(status);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(runs(), each(2 * runs_of_each));
  const RecordFile read = read_records(file(".jsonl").string());
  EXPECT_TRUE(read.warnings.empty());
  // All files have the runs in the same order.
  std::string expected;
  for (const RunRecord& record : read.records) {
    for (const Format* format : formats()) {
      if (std::string(format->suffix) == ".tbl") expected += format->render(record);
    }
  }
  EXPECT_EQ(text(".tbl"), expected);
}

TEST_F(AppendTest, AFileThatIsReplacedWhileWaitingForItsLock) {
  append_run(dir(), "log", samples::out_of_inodes());
  const int held = ::open(file(".jsonl").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(held);
    ::_exit(failure([&] { append_run(dir(), "log", samples::out_of_inodes()); }).empty() ? 0 : 1);
  }
  ::usleep(100'000);
  for (const char* suffix : suffixes) fs::remove(file(suffix));
  ::close(held);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(runs(), each(1));
}

TEST_F(AppendTest, CheckLeavesNothingBehind) {
  check_results_writable(dir(), "log");
  EXPECT_EQ(entries(), 0U);
  append_run(dir(), "log", samples::full());
  const std::vector<std::string> before = all_texts();
  check_results_writable(dir(), "log");
  EXPECT_EQ(all_texts(), before);
  EXPECT_EQ(entries(), 4U);
}

TEST_F(AppendTest, CheckMakesTheFolderButNotTheOneAbove) {
  check_results_writable(dir() + "/new", "log");
  EXPECT_TRUE(fs::is_directory(dir() + "/new"));
  EXPECT_TRUE(fs::is_empty(dir() + "/new"));
  EXPECT_EQ(failure([&] { check_results_writable(dir() + "/a/b", "log"); }),
            "the results folder " + dir() + "/a/b does not exist, and neither does the folder above it; make it first");
  EXPECT_FALSE(fs::exists(dir() + "/a"));
}

TEST_F(AppendTest, CheckRefusesWhatCannotBeMeant) {
  EXPECT_THROW(check_results_writable("", "log"), UsageError);
  EXPECT_THROW(check_results_writable(dir(), "a/b"), UsageError);
  EXPECT_THROW(append_run(dir(), "a/b", samples::full()), UsageError);
  std::ofstream(folder_.path() / "file") << "x";
  EXPECT_EQ(failure([&] { check_results_writable(dir() + "/file", "log"); }),
            "the results folder " + dir() + "/file is not a directory");
  EXPECT_EQ(failure([&] { check_results_writable(dir() + "/file/x", "log"); }),
            "the results folder " + dir() + "/file/x would be inside something that is not a directory");
}

TEST_F(AppendTest, TheCheckWithoutWritingSaysTheSame) {
  const std::string file = dir() + "/file";
  std::ofstream(file) << "x";
  fs::create_directory(dir() + "/taken");
  fs::create_directory(dir() + "/taken/log.tbl");
  fs::create_symlink(dir() + "/nowhere", dir() + "/link");
  for (const std::string& results :
       {dir() + "/a/b", dir() + "/a/b//", file, file + "/x", dir() + "/taken", dir() + "/link", std::string(),
        std::string("a\0b", 3), dir() + "/missing/.", dir() + "/missing/.."}) {
    const std::string message = failure([&] { check_results_without_writing(results, "log"); });
    EXPECT_NE(message, "") << results;
    EXPECT_EQ(message, failure([&] { check_results_writable(results, "log"); }));
  }
  EXPECT_THROW(check_results_without_writing(dir(), "a/b"), UsageError);
  const std::string here = fs::current_path().string();
  fs::current_path(dir());
  for (const std::string& results :
       {dir(), dir() + "/new", dir() + "//new//", std::string("new"), std::string("./new/")}) {
    EXPECT_EQ(failure([&] { check_results_without_writing(results, "log"); }), "") << results;
    EXPECT_FALSE(fs::exists(dir() + "/new"));
  }
  fs::current_path(here);
}

TEST_F(AppendTest, AFolderThatMayNotBeWrittenIsRefused) {
  ASSERT_EQ(::chmod(dir().c_str(), 0555), 0);
  const int status = in_child([&] {
    if (::geteuid() == 0 && ::setuid(65534) != 0) return 77;
    if (::access(dir().c_str(), X_OK) != 0) return 77;  // a folder above is closed to others
    const std::string message = failure([&] { check_results_writable(dir(), "log"); });
    if (failure([&] { check_results_without_writing(dir(), "log"); }) != message) return 2;
    if (failure([&] { check_results_without_writing(dir() + "/new", "log"); }) !=
        failure([&] { check_results_writable(dir() + "/new", "log"); })) {
      return 3;
    }
    if (message.find("cannot create a file in") == std::string::npos) std::cerr << "message: " << message << "\n";
    return message.find("cannot create a file in") != std::string::npos && message.find("EACCES") != std::string::npos
               ? 0
               : 1;
  });
  ::chmod(dir().c_str(), 0755);
  if (status == 77) GTEST_SKIP() << "cannot become another user here who reaches " << dir();
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace mongo
