#include "harness/measure/survey.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>

#include "harness/core/descriptor.h"
#include "harness/core/errors.h"
#include "harness/measure/extents.h"
#include "harness/measure/fibmap.h"
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
  SurveyVisitor(Survey& survey, const InterruptWatch& watch, ExtentSource source)
      : survey_(survey), watch_(watch), source_(source), fibmap_(watch) {}

  bool enter(const char*) {
    ++survey_.directories;
    return true;
  }

  bool regular(const char* name) {
    if (++survey_.files % 1024 == 0) watch_.check();
    struct stat info {};
    // By name: an empty file, of which there may be many, then needs no descriptor.
    if (fstatat(AT_FDCWD, name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
      sizes_known_ = false;
      return note_failure("fstatat", name, errno);
    }
    data_bytes_ += static_cast<std::uint64_t>(info.st_size);
    allocated_bytes_ += static_cast<std::uint64_t>(info.st_blocks) * 512;
    if (method_ == Method::none) return true;
    if (method_ != Method::undecided && info.st_size == 0 && info.st_blocks == 0) {
      add(FileExtents(), 0);
      return true;
    }
    // O_NOATIME: looking must not write.
    const Descriptor file(open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOATIME));
    if (!file) return note_failure("open", name, errno);
    if (method_ == Method::undecided && source_ == ExtentSource::fibmap) try_fibmap(file.get());
    if (method_ == Method::undecided || method_ == Method::fiemap) {
      FileExtents extents;
      const int error = fiemap_.read(file.get(), 0, extents);
      if (error == 0) {
        method_ = Method::fiemap;
        add(extents, info.st_size);
        return true;
      }
      if (method_ == Method::fiemap || (error != EOPNOTSUPP && error != ENOTTY)) {
        return note_failure("FIEMAP", name, error);
      }
      fiemap_error_ = error;
      try_fibmap(file.get());
    }
    return method_ == Method::none || read_by_fibmap(file.get(), name, info);
  }

  void finish() {
    if (sizes_known_) {
      survey_.data_bytes = data_bytes_;
      survey_.allocated_bytes = allocated_bytes_;
    }
    Fragmentation& result = survey_.fragmentation;
    if (method_ == Method::none) {
      const std::string fiemap = fiemap_error_ != 0 ? "FIEMAP: " + errno_name(fiemap_error_) + ", " : "";
      result.reason =
          fmt::format("the file system does not tell its extents ({}FIBMAP: {})", fiemap, errno_name(fibmap_error_));
      return;
    }
    if (method_ == Method::fibmap && files_with_blocks_ > 0 && all_files_.files == 0 && failure_.empty()) {
      // Some file systems have the call but no answer.
      result.reason = "the file system does not tell its extents (FIBMAP answers 0 for every block)";
      return;
    }
    if (method_ == Method::fiemap) result.method = "FIEMAP";
    if (method_ == Method::fibmap) result.method = "FIBMAP";
    if (!failure_.empty()) {
      result.reason = failure_;
      return;
    }
    result.above_threshold = above_threshold_.count();
    result.all_files = all_files_.count();
    result.files_by_fragments = by_fragments_.buckets();
    if (above_threshold_.files > 0) return;
    result.reason =
        fmt::format("no file with extents that can be counted is larger than {} bytes", result.threshold_bytes);
  }

 private:
  /// The call that tells the extents, found out with the first file.
  enum class Method { undecided, fiemap, fibmap, none };

  void try_fibmap(int fd) {
    fibmap_error_ = fibmap_.probe(fd);
    method_ = fibmap_error_ == 0 ? Method::fibmap : Method::none;
  }

  bool read_by_fibmap(int fd, const char* name, const struct stat& info) {
    FileExtents extents;
    const int error = fibmap_.read(fd, static_cast<std::uint64_t>(info.st_size), extents);
    if (error != 0) return note_failure("FIBMAP", name, error);
    if (info.st_blocks > 0) ++files_with_blocks_;
    add(extents, info.st_size);
    return true;
  }

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
    by_fragments_.add(extents.fragments);
    // Without data on the device of their own, empty and inline files would make a ratio below 1 out of nothing.
    if (extents.fragments == 0) return;
    all_files_.fragments += extents.fragments;
    ++all_files_.files;
    if (static_cast<std::uint64_t>(size) <= result.threshold_bytes) return;
    above_threshold_.fragments += extents.fragments;
    ++above_threshold_.files;
  }

  bool note_failure(const char* call, const char* name, int error) {
    if (failure_.empty()) failure_ = fmt::format("{} of {}: {}", call, name, errno_text(error));
    return false;
  }

  Survey& survey_;
  const InterruptWatch& watch_;
  const ExtentSource source_;
  ExtentReader fiemap_;
  BlockReader fibmap_;
  Method method_ = Method::undecided;
  int fiemap_error_ = 0, fibmap_error_ = 0;
  Sum above_threshold_, all_files_;
  FragmentHistogram by_fragments_;
  std::uint64_t data_bytes_ = 0, allocated_bytes_ = 0;
  bool sizes_known_ = true;
  std::uint64_t files_with_blocks_ = 0;
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

Survey survey_filesystem(int root_fd, const InterruptWatch& watch, std::span<const std::string> own_files,
                         ExtentSource source) {
  const auto start = std::chrono::steady_clock::now();
  Survey survey;
  survey.directories = 1;  // the root is not entered
  const CurrentDirectory current;
  phases::Counters counters;
  phases::Context context;
  context.mount_fd = root_fd;
  context.own_files = own_files;
  context.counters = &counters;
  SurveyVisitor visitor(survey, watch, source);
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
