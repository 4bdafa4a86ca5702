#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "phases/phase.h"
#include "phases/support/content.h"

namespace mongo::phases::testing {

/// An empty directory that plays the mount point; removed with all it holds at the end.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  int fd() const { return fd_; }

 private:
  std::string path_;
  int fd_;
};

struct Failure {
  std::string operation;
  int error_number;
  std::uint64_t count;
  std::string first_path;
};

struct Outcome {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::vector<Failure> failures;
};

/// Runs the work in a forked child, since phases change the current directory. It may use the counters only.
Outcome run_in_child(const std::function<void(Counters&)>& work);

/// What a test may set; the rest of the context is made from it.
struct Settings {
  TreeParameters tree;
  int repetition = 1;
  int process = 1;
  std::size_t write_buffer_size = 4096;
  ContentSpec content = {};
  bool sync_each = false;
  std::function<void()> prepare = nullptr;  // in the child, before the phase
};

/// Runs one phase in a child with the scratch directory as the mount point.
Outcome run_phase(const char* name, const Scratch& scratch, const Settings& settings);

/// Runs Phase::verify of one phase in the same way.
Outcome verify_phase(const char* name, const Scratch& scratch, const Settings& settings);

/// From now on this process gets EIO from a system call (SYS_fsync, ...), as from a broken disk. Needs no privileges.
void break_system_call(long number);

/// Relative path -> kind and size of everything below a directory: "dir", "file 123" or "link TARGET".
std::map<std::string, std::string> listing(const std::string& directory);

std::string file_bytes(const std::string& path);
void make_file(const std::string& path, const std::string& bytes);

/// What a command writes to its output, for the checks of which other programs know more. Not under root's rules.
std::string output_of(const std::string& command);

/// A failure's description, for comparisons that read well.
std::string text(const Outcome& outcome);

/// 1173 files of 5284544 bytes in 38 directories, four levels deep.
TreeParameters branchy();

/// About `files` small files, each in a directory of its own in the one before: as deep as it has files.
TreeParameters chain(std::uint64_t files);

}  // namespace mongo::phases::testing
