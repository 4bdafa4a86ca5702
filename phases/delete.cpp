#include <cstdint>

#include "phases/phase.h"
#include "phases/support/operations.h"
#include "phases/support/walk.h"

namespace mongo::phases::phase_delete {
namespace {

class Remover : public WalkVisitor {
 public:
  explicit Remover(Walk& walk) : operations_(walk.operations()) {}

  bool regular(const char* name) {
    if (!operations_.unlink(name)) {
      return false;
    }
    operations_.count_file();
    return true;
  }

  bool other(const char* name) { return regular(name); }

  /// On some file systems a directory that shrinks while it is read shows only a part of its entries. Where an entry
  /// could not be removed, another time would not help.
  After leave(const char* name, bool may_repeat) {
    switch (operations_.rmdir(name, may_repeat)) {
      case Operations::Removal::done:
        return After::go_on;
      case Operations::Removal::not_empty:
        return After::again;
      case Operations::Removal::failed:
        break;
    }
    return After::failed;
  }

 private:
  Operations& operations_;
};

void run(Context& context) {
  Walk walk(context);
  Remover remover(walk);
  // What an earlier phase did not make, because it was not asked for or failed, need not be removed: how many files
  // were is told by the count.
  for (const int which : {1, 2}) {
    walk.tree(tree_directory(which, context.repetition, context.process).c_str(), remover, Walk::Absent::is_fine);
  }
}

std::uint64_t planned_files(const Expectation& expectation) {
  return expectation.files_per_tree * ((expectation.copied ? 2 : 1) + (expectation.linked ? 1 : 0));
}

}  // namespace

extern const Phase entry;
const Phase entry{.name = "delete",
                  .label = "Delete",
                  .summary = "remove each process's trees",
                  .position = 70,
                  .needs_tree = true,
                  .writes_files = false,
                  .planned_files = planned_files,
                  .run = run};

}  // namespace mongo::phases::phase_delete
