#include <string>

#include "tests/device/run/failing_fixture.h"

// What a file system answers to one kind of call, and what the record says about it.

namespace mongo {
namespace {

struct Case {
  const char* name;
  const char* before;  // phases that come before and succeed
  const char* phase;   // the one in which the rule holds
  const char* rule;
  Status status;
  std::uint64_t done;  // files
  const char* errors;  // OPERATION ERROR xCOUNT FIRST_PATH; ...
  const char* reason;
  bool sync_each = false;
};

void PrintTo(const Case& shown, std::ostream* out) { *out << shown.phase << " with " << shown.rule; }

constexpr const char* no_errors = "";
constexpr Status failed = Status::failed;
constexpr Status incomplete = Status::incomplete;

const Case cases[] = {
    {"CreateFullDisk", "", "create", "create:10:ENOSPC", incomplete, 9, "create ENOSPC x30 testdir1-1-1/d0/10",
     "ENOSPC: no space left, 9 of 39 files"},
    {"CreateOnce", "", "create", "create:10x1:EIO", failed, 38, "create EIO x1 testdir1-1-1/d0/10",
     "EIO: Input/output error, 38 of 39 files; first at testdir1-1-1/d0/10 (create)"},
    {"WriteBrokenDisk", "", "create", "write:5:EIO", failed, 4, "write EIO x35 testdir1-1-1/d0/5",
     "EIO: Input/output error, 4 of 39 files; first at testdir1-1-1/d0/5 (write)"},
    {"WriteOnce", "", "create", "write:5x1:EIO", failed, 38, "write EIO x1 testdir1-1-1/d0/5",
     "EIO: Input/output error, 38 of 39 files; first at testdir1-1-1/d0/5 (write)"},
    {"WriteFullDisk", "", "create", "write:5:ENOSPC", incomplete, 4, "write ENOSPC x35 testdir1-1-1/d0/5",
     "ENOSPC: no space left, 4 of 39 files"},
    {"CloseQuota", "", "create", "flush:3:EDQUOT", incomplete, 2, "close EDQUOT x37 testdir1-1-1/3",
     "EDQUOT: Disk quota exceeded, 2 of 39 files"},
    {"CloseBrokenDisk", "", "create", "flush:3x1:EIO", failed, 38, "close EIO x1 testdir1-1-1/3",
     "EIO: Input/output error, 38 of 39 files; first at testdir1-1-1/3 (close)"},
    {"FsyncBrokenDisk", "", "create", "fsync:1:EIO", failed, 0, "fsync EIO x39 testdir1-1-1/1",
     "EIO: Input/output error, 0 of 39 files; first at testdir1-1-1/1 (fsync)", true},
    {"FsyncFullDisk", "", "create", "fsync:30:ENOSPC", incomplete, 29, "fsync ENOSPC x10 testdir1-1-1/d2/30",
     "ENOSPC: no space left, 29 of 39 files", true},
    {"FsyncOfCopies", "create", "copy", "fsync:2x1:EIO", failed, 38, "fsync EIO x1 testdir2-1-1/2",
     "EIO: Input/output error, 38 of 39 files; first at testdir2-1-1/2 (fsync)", true},
    {"NoTopDirectory", "", "create", "mkdir:1:EMLINK", incomplete, 0, "mkdir EMLINK x1 testdir1-1-1",
     "EMLINK: no more links or subdirectories, 0 of 39 files"},
    // Without d2/d3 and d5; what lies below them is not tried.
    {"TooManyDirectories", "", "create", "mkdir:5:EMLINK", incomplete, 30, "mkdir EMLINK x2 testdir1-1-1/d2/d3",
     "EMLINK: no more links or subdirectories, 30 of 39 files"},
    {"DirectoryCannotBeEntered", "", "create", "access:5x1:EACCES", failed, 24,
     "change_directory EACCES x1 testdir1-1-1/d0/d1",
     "EACCES: Permission denied, 24 of 39 files; first at testdir1-1-1/d0/d1 (change_directory)"},
    {"NoMoreDescriptors", "create", "copy", "open:7:EMFILE", failed, 6, "open EMFILE x33 testdir1-1-1/d0/7",
     "EMFILE: Too many open files, 6 of 39 files; first at testdir1-1-1/d0/7 (open)"},
    {"CopyFullDisk", "create", "copy", "write:5:ENOSPC", incomplete, 4, "write ENOSPC x35 testdir2-1-1/d0/5",
     "ENOSPC: no space left, 4 of 39 files"},
    // Two reads a file.
    {"CopyBrokenSource", "create", "copy", "read:5:EIO", failed, 2, "read EIO x37 testdir1-1-1/3",
     "EIO: Input/output error, 2 of 39 files; first at testdir1-1-1/3 (read)"},
    {"SymlinkQuota", "create", "symlink", "symlink:4:EDQUOT", incomplete, 3, "symlink EDQUOT x36 testdir1-1-1/d0/4.lnk",
     "EDQUOT: Disk quota exceeded, 3 of 39 files"},
    {"SymlinkLstat", "create", "symlink", "getattr:4:EIO", failed, 3, "lstat EIO x36 testdir1-1-1/d0/4.lnk",
     "EIO: Input/output error, 3 of 39 files; first at testdir1-1-1/d0/4.lnk (lstat)"},
    {"Readlink", "create", "symlink", "readlink:1:EIO", failed, 0, "readlink EIO x39 testdir1-1-1/1.lnk",
     "EIO: Input/output error, 0 of 39 files; first at testdir1-1-1/1.lnk (readlink)"},
    {"Read", "create", "read", "read:5:EIO", failed, 2, "read EIO x37 testdir1-1-1/3",
     "EIO: Input/output error, 2 of 39 files; first at testdir1-1-1/3 (read)"},
    {"ReadOnce", "create copy", "read", "read:5x1:EIO", failed, 77, "read EIO x1 testdir1-1-1/3",
     "EIO: Input/output error, 77 of 78 files; first at testdir1-1-1/3 (read)"},
    {"Lstat", "create", "stat", "getattr:4:EIO", failed, 3, "lstat EIO x36 testdir1-1-1/d0/4",
     "EIO: Input/output error, 3 of 39 files; first at testdir1-1-1/d0/4 (lstat)"},
    // The root and the tree are opened, its three directories are not.
    {"OpenDirectory", "create", "stat", "opendir:3:EACCES", failed, 3, "open EACCES x3 testdir1-1-1/d0",
     "EACCES: Permission denied, 3 of 39 files; first at testdir1-1-1/d0 (open)"},
    {"ReadRoot", "create", "stat", "readdir:1:EIO", failed, 0, "read_directory EIO x1 .",
     "EIO: Input/output error, 0 of 39 files; first at . (read_directory)"},
    {"ReadDirectory", "create", "read", "readdir:3x1:EIO", failed, 14, "read_directory EIO x1 testdir1-1-1/d0",
     "EIO: Input/output error, 14 of 39 files; first at testdir1-1-1/d0 (read_directory)"},
    {"Rename", "create", "rename", "rename:4:EROFS", failed, 3, "rename EROFS x36 testdir1-1-1/d0/4",
     "EROFS: Read-only file system, 3 of 39 files; first at testdir1-1-1/d0/4 (rename)"},
    {"Unlink", "create", "delete", "unlink:4:EIO", failed, 3,
     "unlink EIO x36 testdir1-1-1/d0/4; rmdir ENOTEMPTY x7 testdir1-1-1/d0/d1",
     "EIO: Input/output error, 3 of 39 files; first at testdir1-1-1/d0/4 (unlink)"},
    // All files are gone, but not the directories.
    {"Rmdir", "create", "delete", "rmdir:1x1:EIO", failed, 39,
     "rmdir EIO x1 testdir1-1-1/d0/d1; rmdir ENOTEMPTY x2 testdir1-1-1/d0",
     "EIO: Input/output error, 39 of 39 files; first at testdir1-1-1/d0/d1 (rmdir)"},
    {"ShortWrites", "", "create", "short-write:1", Status::ok, 39, no_errors, ""},
    {"ShortWritesOfCopies", "create", "copy", "short-write:1", Status::ok, 39, no_errors, ""},
    {"InterruptedWrite", "", "create", "write:5x2:EINTR", Status::ok, 39, no_errors, ""},
    {"InterruptedCreate", "", "create", "create:5x1:EINTR", Status::ok, 39, no_errors, ""},
    // The descriptor is gone all the same: a second try would close nothing, or something else.
    {"InterruptedClose", "", "create", "flush:5x1:EINTR", failed, 38, "close EINTR x1 testdir1-1-1/d0/5",
     "EINTR: Interrupted system call, 38 of 39 files; first at testdir1-1-1/d0/5 (close)"},
    {"InterruptedRename", "create", "rename", "rename:5x1:EINTR", Status::ok, 39, no_errors, ""},
};

class FailingCallsTest : public test::FailingTest, public ::testing::WithParamInterface<Case> {};

TEST_P(FailingCallsTest, IsInTheRecord) {
  const Case& expected = GetParam();
  mount();
  rounds_.sync_each = expected.sync_each;
  run_well(expected.before);
  mount_->obey(expected.rule);
  PhaseRecord record = rounds_.run(expected.phase);
  EXPECT_EQ(record.status, expected.status);
  EXPECT_EQ(record.reason, expected.reason);
  EXPECT_EQ(record.operations, expected.done);
  EXPECT_EQ(test::errors_text(record), expected.errors);
  if (expected.status != Status::ok) {
    test::expect_no_time(record);
    EXPECT_GT(record.elapsed_seconds, 0);
  } else {
    EXPECT_GT(record.seconds.value_or(0), 0);
  }
  expect_no_worker_left();

  // What is on the disk is what the record says, where files that were not counted are not whole.
  mount_->obey();
  const std::string operation = record.errors.empty() ? "create" : record.errors[0].operation;
  const bool whole = operation == "close" || operation == "fsync";  // only told to be bad
  if (std::string(expected.phase) == "create" && !whole) {
    EXPECT_EQ(test::complete_files(folder_ + "/testdir1-1-1", rounds_.tree), record.operations);
  }
  if (std::string(expected.phase) == "copy" && !whole) {
    EXPECT_EQ(test::complete_files(folder_ + "/testdir2-1-1", rounds_.tree), record.operations);
  }
  if (expected.status == Status::ok && phases::find(expected.phase)->verify != nullptr) {
    rounds_.verify(record);
    EXPECT_EQ(record.reason, "");
    EXPECT_EQ(record.verified_files, files);
    EXPECT_EQ(record.bytes, std::string(expected.phase) == "rename" ? 0 : bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Calls, FailingCallsTest, ::testing::ValuesIn(cases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace mongo
