#include <cstdint>
#include <memory>

#include "phases/phase.h"
#include "phases/support/operations.h"
#include "phases/support/verify.h"
#include "phases/support/walk.h"

namespace mongo::phases::phase_read {
namespace {

class Reader : public WalkVisitor {
 public:
  Reader(const Context& context, Walk& walk)
      : operations_(walk.operations()),
        buffer_size_(context.write_buffer_size),
        buffer_(std::make_unique<char[]>(buffer_size_)) {}

  bool regular(const char* name) {
    const int fd = operations_.open_file(name);
    if (fd < 0) {
      return false;
    }
    ssize_t length;
    while ((length = operations_.read(fd, buffer_.get(), buffer_size_, name)) > 0) {
      operations_.count_read(length);
    }
    if (!operations_.close(fd, name) || length < 0) {
      return false;
    }
    operations_.count_file();
    return true;
  }

 private:
  Operations& operations_;
  std::size_t buffer_size_;
  std::unique_ptr<char[]> buffer_;
};

void run(Context& context) {
  Walk walk(context);
  Reader reader(context, walk);
  walk.whole_file_system(reader);
}

/// The trees of this process only: together, the processes go through the whole file system.
void verify(Context& context) {
  verify_tree(context, 1);
  verify_tree(context, 2, "", Walk::Absent::is_fine);
}

std::uint64_t planned_files(const Expectation& expectation) {
  return expectation.files_per_tree * expectation.trees * (expectation.copied ? 2 : 1);
}

}  // namespace

extern const Phase entry;
const Phase entry{.name = "read",
                  .label = "Read",
                  .summary = "read every file of the file system",
                  .position = 40,
                  .needs_tree = true,
                  .writes_files = false,
                  .planned_files = planned_files,
                  .run = run,
                  .verify = verify};

}  // namespace mongo::phases::phase_read
