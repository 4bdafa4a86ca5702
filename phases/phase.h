#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace mongo::phases {

/// The parameters of one fractal file tree. Sizes are in bytes, the rest are counts.
/// The tree is a pure function of these numbers; see phases/support/tree.h.
struct TreeParameters {
  std::uint64_t bytes_to_consume = 0;
  std::uint64_t median_file_size = 0;
  std::uint64_t max_file_size = 0;
  std::uint64_t median_dir_files = 0;
  std::uint64_t max_dir_files = 0;
  std::uint64_t median_dir_branching = 0;
  std::uint64_t max_dir_branching = 0;
};

/// The system calls that a phase makes and whose errors are counted, by their names in the record.
enum class Operation : std::uint8_t {
  create,  // open(2) with O_CREAT|O_EXCL
  write,
  close,
  open,  // open(2) of something that exists
  read,
  lstat,
  symlink,
  readlink,
  rename,
  unlink,
  mkdir,
  rmdir,
  read_directory,  // getdents64(2)
  change_directory,
  fsync,
  verify,  // no call: something is not as the phases should have left it; always with error number 0
};
inline constexpr std::size_t operation_count = 16;

/// The record's name for an operation, e.g. "create".
const char* operation_name(Operation operation);

/// One kind of failure in one worker: which call, which errno, how often, and where it was seen first.
struct ErrorCount {
  Operation operation;
  std::int32_t error_number;
  std::uint64_t count;
  // Relative to the mount point where known; NUL-terminated, cut at the front when too long. With Operation::verify
  // followed by what is wrong there: "testdir1-1-1/d3/17 at byte 4096".
  char first_path[240];
};

/// What a worker has done so far. Plain memory without pointers: it lies in pages shared between the worker, its only
/// writer, and the harness, which reads the two atomics for the progress line and the rest after the worker has ended.
struct Counters {
  static constexpr std::size_t max_error_kinds = 16;

  std::atomic<std::uint64_t> files{0};  // files on which all of the phase's work succeeded
  std::atomic<std::uint64_t> bytes{0};  // bytes of file data written (create, copy), read (read) or compared (verify)
  std::uint32_t error_kinds = 0;
  std::uint64_t errors_not_kept = 0;  // failures of further kinds, when all slots are taken
  ErrorCount errors[max_error_kinds];

  /// Counts one failure. path_prefix and name are joined with '/' when both are non-empty.
  void count_error(Operation operation, int error_number, const char* path_prefix, const char* name);
};

struct Latencies;  // phases/support/latency.h: how long each operation took
class Content;     // phases/support/content.h: the bytes that files are filled with

/// All that a phase knows. A phase makes system calls and counts; it knows no timing and no reporting.
struct Context {
  int mount_fd = -1;                       // the root of the file system under test, O_DIRECTORY
  std::string mount_path;                  // its absolute path, for the targets of symbolic links
  int repetition = 1;                      // from 1
  int process = 1;                         // from 1
  std::span<const std::string> own_files;  // names in the root that are the file system's and not the workload's
  TreeParameters tree;
  std::size_t write_buffer_size = 4096;
  // create and copy call fsync(2) on each file after its last write. What changes directories only (symlink, rename,
  // delete) is not concerned, nor are the directories themselves.
  bool sync_each = false;
  Content* content = nullptr;      // this worker's own; null for phases that write nothing and compare no content
  Counters* counters = nullptr;    // never null
  Latencies* latencies = nullptr;  // null: not measured
};

/// The name of the directory of a process's own tree (which = 1: made by create, 2: made by copy) below the mount
/// point.
std::string tree_directory(int which, int repetition, int process);

/// What exists before a phase when everything before it has succeeded; used to say how many files it should work on.
struct Expectation {
  std::uint64_t files_per_tree = 0;  // regular files of one tree
  std::uint64_t trees = 0;           // processes * repetitions
  bool copied = false;               // copy is among the phases that came before
  bool linked = false;               // symlink is
};

/// One phase, as data. Each file phases/NAME.cpp offers `namespace mongo::phases::phase_NAME { extern const Phase
/// entry; }`.
struct Phase {
  const char* name;     // in the record and in --phases, e.g. "symlink"
  const char* label;    // in the classic tables, e.g. "Slinks"; at most six characters
  const char* summary;  // one line for --help
  int position;         // phases run in ascending order of this number
  bool needs_tree;      // works on what create made
  bool writes_files;    // used space and fragmentation are measured after it
  /// Files that one process should work on in one repetition.
  std::uint64_t (*planned_files)(const Expectation&);
  /// Does the work of one process in one repetition. Called in a process of its own whose current directory may be
  /// changed. Never throws for a failed call: failures are counted and the work goes on with what is left.
  void (*run)(Context&);
  /// Compares what the phase left, or what it worked on, with what it should be: for one process of one repetition, in
  /// a process of its own as well, after the phase and outside of its time. Context::content must be as it was for
  /// create, but for the size of its pieces. Counts the files that are right; a difference is counted as an error of
  /// Operation::verify, at most one for each file, and a failed system call as its own. Null: nothing to compare.
  void (*verify)(Context&) = nullptr;
};

}  // namespace mongo::phases
