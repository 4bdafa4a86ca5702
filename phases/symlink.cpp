#include <cerrno>
#include <climits>
#include <cstdint>
#include <string_view>

#include "phases/phase.h"
#include "phases/support/operations.h"
#include "phases/support/suffixed_name.h"
#include "phases/support/verify.h"
#include "phases/support/walk.h"

namespace mongo::phases::phase_symlink {
namespace {

class Linker : public WalkVisitor {
 public:
  explicit Linker(Walk& walk) : walk_(walk), operations_(walk.operations()) {}

  bool regular(const char* name) {
    const SuffixedName link(name, ".lnk");
    struct stat status;
    if (!operations_.symlink(walk_.path().absolute_path_of(name), link.text()) ||
        !operations_.lstat(link.text(), status) || !read_target(link.text())) {
      return false;
    }
    operations_.count_file();
    return true;
  }

 private:
  /// As a program does that knows no PATH_MAX: with 1, 2, 4, ... bytes until some are left over.
  bool read_target(const char* link) {
    for (std::size_t size = 1; size <= sizeof target_; size *= 2) {
      const ssize_t length = operations_.readlink(link, target_, size);
      if (length < 0) {
        return false;
      }
      if (static_cast<std::size_t>(length) < size) {
        return true;
      }
    }
    operations_.fail(Operation::readlink, ENAMETOOLONG, link);
    return false;
  }

  Walk& walk_;
  Operations& operations_;
  char target_[2 * PATH_MAX];  // symlink(2) takes targets shorter than PATH_MAX
};

void run(Context& context) {
  Walk walk(context);
  Linker linker(walk);
  walk.tree(tree_directory(1, context.repetition, context.process).c_str(), linker);
}

class LinkVerifier : public WalkVisitor {
 public:
  explicit LinkVerifier(Walk& walk) : walk_(walk), operations_(walk.operations()) {}

  bool regular(const char* name) {
    if (std::string_view(name).ends_with(".lnk")) {
      return true;  // stands where a link should be, which is told of the file
    }
    const SuffixedName link(name, ".lnk");
    if (!find_kind(operations_, link.text(), S_IFLNK, "is not a symbolic link")) {
      return false;
    }
    const ssize_t length = operations_.readlink(link.text(), target_, sizeof target_);
    if (length < 0) {
      return false;
    }
    const std::string_view target(target_, static_cast<std::size_t>(length));
    const std::string_view expected = walk_.path().absolute_path_of(name);
    if (target != expected) {
      count_difference(operations_, link.text(), "points to " + shown(target) + " instead of " + shown(expected));
      return false;
    }
    operations_.count_file();
    return true;
  }

 private:
  Walk& walk_;
  Operations& operations_;
  char target_[2 * PATH_MAX];
};

void verify(Context& context) {
  Walk walk(context);
  LinkVerifier verifier(walk);
  walk.tree(tree_directory(1, context.repetition, context.process).c_str(), verifier);
}

std::uint64_t planned_files(const Expectation& expectation) { return expectation.files_per_tree; }

}  // namespace

extern const Phase entry;
const Phase entry{.name = "symlink",
                  .label = "Slinks",
                  .summary = "make a symbolic link to each file of the process's tree, lstat it and read it",
                  .position = 30,
                  .needs_tree = true,
                  .writes_files = false,
                  .planned_files = planned_files,
                  .run = run,
                  .verify = verify};

}  // namespace mongo::phases::phase_symlink
