#include <cstdint>
#include <string_view>

#include "phases/phase.h"
#include "phases/support/operations.h"
#include "phases/support/suffixed_name.h"
#include "phases/support/verify.h"
#include "phases/support/walk.h"

namespace mongo::phases::phase_rename {
namespace {

class Renamer : public WalkVisitor {
 public:
  explicit Renamer(Walk& walk) : operations_(walk.operations()) {}

  bool regular(const char* name) {
    // The walk may meet a file once more under its new name.
    if (std::string_view(name).ends_with(".r")) {
      return true;
    }
    if (!operations_.rename(name, SuffixedName(name, ".r").text())) {
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
  Renamer renamer(walk);
  walk.tree(tree_directory(1, context.repetition, context.process).c_str(), renamer);
}

void verify(Context& context) { verify_tree(context, 1, ".r"); }

std::uint64_t planned_files(const Expectation& expectation) { return expectation.files_per_tree; }

}  // namespace

extern const Phase entry;
const Phase entry{.name = "rename",
                  .label = "Rename",
                  .summary = "rename each file of the process's tree",
                  .position = 60,
                  .needs_tree = true,
                  .writes_files = false,
                  .planned_files = planned_files,
                  .run = run,
                  .verify = verify};

}  // namespace mongo::phases::phase_rename
