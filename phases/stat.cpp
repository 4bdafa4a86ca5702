#include <cstdint>

#include "phases/phase.h"
#include "phases/support/operations.h"
#include "phases/support/walk.h"

namespace mongo::phases::phase_stat {
namespace {

class Inspector : public WalkVisitor {
 public:
  explicit Inspector(Walk& walk) : operations_(walk.operations()) {}

  bool regular(const char* name) {
    struct stat status;
    if (!operations_.lstat(name, status)) {
      return false;
    }
    operations_.count_file();
    return true;
  }

 private:
  Operations& operations_;
};

void run(Context& context) {
  Walk walk(context);
  Inspector inspector(walk);
  walk.whole_file_system(inspector);
}

std::uint64_t planned_files(const Expectation& expectation) {
  return expectation.files_per_tree * expectation.trees * (expectation.copied ? 2 : 1);
}

}  // namespace

extern const Phase entry;
const Phase entry{.name = "stat",
                  .label = "Stats",
                  .summary = "lstat every file of the file system",
                  .position = 50,
                  .needs_tree = true,
                  .writes_files = false,
                  .planned_files = planned_files,
                  .run = run};

}  // namespace mongo::phases::phase_stat
