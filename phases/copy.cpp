#include <cstdint>
#include <memory>
#include <string>

#include "phases/phase.h"
#include "phases/support/current_path.h"
#include "phases/support/operations.h"
#include "phases/support/walk.h"

namespace mongo::phases::phase_copy {
namespace {

/// Copies with plain reads and writes, so that data is moved also where the file system could share it. The walk is in
/// the source; the directory of the same place in the copy is open, and no more of the copy than that.
class Copier : public WalkVisitor {
 public:
  Copier(const Context& context, Walk& walk)
      : source_(walk.operations()),
        mount_fd_(context.mount_fd),
        top_(tree_directory(2, context.repetition, context.process)),
        path_(context.mount_path),
        copy_(*context.counters, walk.clock(), path_),
        buffer_size_(context.write_buffer_size),
        buffer_(std::make_unique<char[]>(buffer_size_)) {
    copy_.set_directory(mount_fd_);
  }

  ~Copier() { go_to(mount_fd_); }
  Copier(const Copier&) = delete;
  Copier& operator=(const Copier&) = delete;

  bool enter(const char* source_name) {
    const char* const name = depth_ == 0 ? top_.c_str() : source_name;
    if (!copy_.mkdir(name)) {
      return false;
    }
    const int fd = copy_.open_directory(name);
    if (fd < 0) {
      return false;
    }
    go_to(fd);
    path_.enter(name);
    ++depth_;
    return true;
  }

  After leave(const char*, bool) {
    --depth_;
    // When there is no way up, the descriptor is -1 from here on, and every call in it fails and is counted.
    go_to(depth_ == 0 ? mount_fd_ : copy_.open_directory(".."));
    path_.leave();
    return After::go_on;
  }

  bool regular(const char* name) {
    const int from = source_.open_file(name);
    if (from < 0) {
      return false;
    }
    const int to = copy_.create(name);
    bool copied = to >= 0;
    while (copied) {
      const ssize_t length = source_.read(from, buffer_.get(), buffer_size_, name);
      if (length <= 0) {
        copied = length == 0;
        break;
      }
      copied = copy_.write(to, buffer_.get(), static_cast<std::size_t>(length), name);
    }
    if (to >= 0 && !copy_.close(to, name)) {
      copied = false;
    }
    if (!source_.close(from, name)) {
      copied = false;
    }
    if (copied) {
      copy_.count_file();
    }
    return copied;
  }

 private:
  void go_to(int fd) {
    if (copy_.directory() != mount_fd_ && copy_.directory() >= 0) {
      copy_.close(copy_.directory(), "");
    }
    copy_.set_directory(fd);
  }

  Operations& source_;
  int mount_fd_;
  std::string top_;
  CurrentPath path_;
  Operations copy_;
  std::uint64_t depth_ = 0;
  std::size_t buffer_size_;
  std::unique_ptr<char[]> buffer_;
};

void run(Context& context) {
  Walk walk(context);
  Copier copier(context, walk);
  walk.tree(tree_directory(1, context.repetition, context.process).c_str(), copier);
}

std::uint64_t planned_files(const Expectation& expectation) { return expectation.files_per_tree; }

}  // namespace

extern const Phase entry;
const Phase entry{.name = "copy",
                  .label = "Copy",
                  .summary = "copy each process's tree, recursively",
                  .position = 20,
                  .needs_tree = true,
                  .writes_files = true,
                  .planned_files = planned_files,
                  .run = run};

}  // namespace mongo::phases::phase_copy
