#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "phases/phase.h"
#include "phases/support/content.h"
#include "phases/support/decimal_name.h"
#include "phases/support/tree.h"
#include "phases/support/tree_follower.h"
#include "phases/support/verify.h"

namespace mongo::phases::phase_create {
namespace {

/// Makes a tree below the current directory from the generator's events.
class TreeMaker : public TreeFollower<TreeMaker> {
 public:
  explicit TreeMaker(Context& context)
      : TreeFollower(context),
        content_(*context.content),
        piece_size_(context.write_buffer_size - 1),
        sync_each_(context.sync_each) {}

  /// To the tree's own directory, made below the mount point.
  bool begin(int mount_fd, const char* name) { return operations_.change_directory(mount_fd, ".") && enter(name); }

  void file(std::uint64_t number, std::uint64_t size) {
    if (skipping()) {
      return;
    }
    const DecimalName name(number);
    operations_.restart_clock();
    const int fd = operations_.create(name.text());
    if (fd < 0) {
      return;
    }
    content_.begin_file(number);
    bool written = true;
    while (size > 0 && written) {
      const std::uint64_t length = std::min<std::uint64_t>(size, piece_size_);
      const char* const piece = content_.piece(length);
      operations_.restart_clock();
      written = operations_.write(fd, piece, length, name.text());
      size -= length;
    }
    if (sync_each_ && written) {
      written = operations_.fsync(fd, name.text());
    }
    if (operations_.close(fd, name.text()) && written) {
      operations_.count_file();
    }
  }

  /// Makes it first.
  bool enter(const char* name) {
    if (!operations_.mkdir(name) || !operations_.change_directory(name)) {
      return false;
    }
    path_.enter(name);
    return true;
  }

 private:
  Content& content_;
  std::uint64_t piece_size_;
  bool sync_each_;
};

void run(Context& context) {
  if (context.content == nullptr || context.content->largest_piece() < context.write_buffer_size - 1) {
    throw std::invalid_argument("create: the content was not made for this write_buffer_size");
  }
  const TreeOutline outline = outline_tree(context.tree);
  TreeMaker maker(context);
  if (maker.begin(context.mount_fd, tree_directory(1, context.repetition, context.process).c_str())) {
    TreeGenerator(context.tree, outline).run(maker);
  }
}

void verify(Context& context) { verify_tree(context, 1); }

std::uint64_t planned_files(const Expectation& expectation) { return expectation.files_per_tree; }

}  // namespace

extern const Phase entry;
const Phase entry{.name = "create",
                  .label = "Create",
                  .summary = "make each process's tree of files",
                  .position = 10,
                  .needs_tree = false,
                  .writes_files = true,
                  .planned_files = planned_files,
                  .run = run,
                  .verify = verify};

}  // namespace mongo::phases::phase_create
