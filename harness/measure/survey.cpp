#include "harness/measure/survey.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "harness/core/errors.h"
#include "harness/measure/extents.h"
#include "phases/support/walk.h"

namespace mongo {
namespace {

/// Sums what the files of one set have.
struct Sum {
  std::uint64_t files = 0;
  std::uint64_t fragments = 0;
  FragmentCount count() const {
    FragmentCount count;
    count.files = files;
    count.fragments = fragments;
    if (files > 0) count.ratio = static_cast<double>(fragments) / static_cast<double>(files);
    return count;
  }
};

class SurveyVisitor : public phases::WalkVisitor {
 public:
  SurveyVisitor(Survey& survey, const InterruptWatch& watch) : survey_(survey), watch_(watch) {}

  bool enter(const char*) {
    ++survey_.directories;
    return true;
  }

  bool regular(const char* name) {
    if (++survey_.files % 1024 == 0) watch_.check();
    if (fiemap_error_ != 0) return true;
    // O_NOATIME: looking must not write.
    const int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOATIME);
    if (fd < 0) return note_failure("open", name);
    struct stat info {};
    FileExtents extents;
    bool well = true;
    if (fstat(fd, &info) != 0) {
      well = note_failure("fstat", name);
    } else if (fiemap_error_ = reader_.read(fd, 0, extents); fiemap_error_ == 0) {
      add(extents, info.st_size);
    } else if (fiemap_error_ != EOPNOTSUPP && fiemap_error_ != ENOTTY) {
      errno = std::exchange(fiemap_error_, 0);
      well = note_failure("FIEMAP", name);
    }
    close(fd);
    return well;
  }

  void finish() {
    Fragmentation& result = survey_.fragmentation;
    if (fiemap_error_ != 0) {
      result.reason = "the file system does not tell its extents (FIEMAP: " + errno_name(fiemap_error_) + ")";
      return;
    }
    if (!failure_.empty()) {
      result.reason = failure_;
      return;
    }
    result.above_threshold = above_threshold_.count();
    result.all_files = all_files_.count();
    if (above_threshold_.files > 0) return;
    result.reason =
        fmt::format("no file with extents that can be counted is larger than {} bytes", result.threshold_bytes);
  }

 private:
  void add(const FileExtents& extents, off_t size) {
    Fragmentation& result = survey_.fragmentation;
    result.shared_extents += extents.shared;
    result.encoded_extents += extents.encoded;
    result.unwritten_extents += extents.unwritten;
    result.inline_extents += extents.inline_data;
    result.delayed_extents += extents.delayed;
    if (extents.encoded > 0) {
      ++result.encoded_files;
      return;
    }
    // Without data on the device of their own, empty and inline files would make a ratio below 1 out of nothing.
    if (extents.fragments == 0) return;
    all_files_.fragments += extents.fragments;
    ++all_files_.files;
    if (static_cast<std::uint64_t>(size) <= result.threshold_bytes) return;
    above_threshold_.fragments += extents.fragments;
    ++above_threshold_.files;
  }

  bool note_failure(const char* call, const char* name) {
    if (failure_.empty()) failure_ = fmt::format("{} of {}: {}", call, name, errno_text(errno));
    return false;
  }

  Survey& survey_;
  const InterruptWatch& watch_;
  ExtentReader reader_;
  Sum above_threshold_, all_files_;
  int fiemap_error_ = 0;
  std::string failure_;
};

/// The walk changes the current directory; this brings it back.
class CurrentDirectory {
 public:
  CurrentDirectory() : fd_(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    if (fd_ < 0) throw RunError("survey", "cannot open the current directory: " + errno_text(errno));
  }
  ~CurrentDirectory() {
    // If it is gone nothing else is better; later paths are absolute.
    if (fchdir(fd_) != 0 && chdir("/") != 0) errno = 0;
    close(fd_);
  }
  CurrentDirectory(const CurrentDirectory&) = delete;
  CurrentDirectory& operator=(const CurrentDirectory&) = delete;

 private:
  int fd_;
};

}  // namespace

Survey survey_filesystem(int root_fd, const InterruptWatch& watch) {
  const auto start = std::chrono::steady_clock::now();
  Survey survey;
  survey.directories = 1;  // the root is not entered
  const CurrentDirectory current;
  phases::Counters counters;
  phases::Context context;
  context.mount_fd = root_fd;
  context.counters = &counters;
  SurveyVisitor visitor(survey, watch);
  phases::Walk walk(context);
  walk.whole_file_system(visitor);
  visitor.finish();
  if (counters.error_kinds > 0) {
    const phases::ErrorCount& error = counters.errors[0];
    throw RunError("survey", fmt::format("{} of {}: {}", phases::operation_name(error.operation), error.first_path,
                                         errno_text(error.error_number)));
  }
  survey.fragmentation.survey_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return survey;
}

}  // namespace mongo
