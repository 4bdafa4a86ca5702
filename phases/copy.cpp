#include <cstdint>
#include <memory>
#include <string>

#include "phases/phase.h"
#include "phases/support/mirror.h"
#include "phases/support/operations.h"
#include "phases/support/verify.h"
#include "phases/support/walk.h"

namespace mongo::phases::phase_copy {
namespace {

/// Copies with plain reads and writes, so that data is moved also where the file system could share it. The walk is in
/// the source.
class Copier : public WalkVisitor {
 public:
  Copier(const Context& context, Walk& walk)
      : source_(walk.operations()),
        mirror_(context, walk.clock(), tree_directory(2, context.repetition, context.process)),
        copy_(mirror_.operations()),
        sync_each_(context.sync_each),
        buffer_size_(context.write_buffer_size),
        buffer_(std::make_unique<char[]>(buffer_size_)) {}

  bool enter(const char* name) { return copy_.mkdir(mirror_.name_of(name)) && mirror_.enter(name); }

  After leave(const char*, bool) {
    mirror_.leave();
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
    if (sync_each_ && copied) {
      copied = copy_.fsync(to, name);
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
  Operations& source_;
  Mirror mirror_;
  Operations& copy_;
  bool sync_each_;
  std::size_t buffer_size_;
  std::unique_ptr<char[]> buffer_;
};

void run(Context& context) {
  Walk walk(context);
  Copier copier(context, walk);
  walk.tree(tree_directory(1, context.repetition, context.process).c_str(), copier);
}

/// Compares each file of the source with the copy's. The walk is in the source.
class Comparer : public WalkVisitor {
 public:
  Comparer(const Context& context, Walk& walk)
      : source_(walk.operations()),
        mirror_(context, walk.clock(), tree_directory(2, context.repetition, context.process)),
        copy_(mirror_.operations()) {}

  bool enter(const char* name) { return find_directory(copy_, mirror_.name_of(name)) && mirror_.enter(name); }

  After leave(const char*, bool) {
    mirror_.leave();
    return After::go_on;
  }

  bool regular(const char* name) {
    struct stat status;
    if (!source_.lstat(name, status)) {
      return false;
    }
    const int from = source_.open_file(name);
    if (from < 0) {
      return false;
    }
    const auto size = static_cast<std::uint64_t>(status.st_size);
    std::uint64_t offset = 0;
    const bool same = comparison_.file(copy_, name, size, [&](std::size_t length) {
      const char* const bytes = original(from, name, length, size, offset);
      offset += length;
      return bytes;
    });
    if (!source_.close(from, name) || !same) {
      return false;
    }
    copy_.count_file();
    return true;
  }

 private:
  /// The next `length` bytes of the source, or null when they cannot be had, which is counted.
  const char* original(int from, const char* name, std::size_t length, std::uint64_t size, std::uint64_t offset) {
    for (std::size_t got = 0; got < length;) {
      const ssize_t more = source_.read(from, buffer_.get() + got, length - got, name);
      if (more <= 0) {
        if (more == 0) {
          count_wrong_size(source_, name, offset + got, size);
        }
        return nullptr;
      }
      got += static_cast<std::size_t>(more);
    }
    return buffer_.get();
  }

  Operations& source_;
  Mirror mirror_;
  Operations& copy_;
  Comparison comparison_;
  std::unique_ptr<char[]> buffer_ = std::make_unique<char[]>(Comparison::piece_size);
};

/// Finds what is in the copy and not in the source. The walk is in the copy.
class Surplus : public WalkVisitor {
 public:
  Surplus(const Context& context, Walk& walk)
      : counters_(*context.counters),
        walk_(walk),
        mirror_(context, walk.clock(), tree_directory(1, context.repetition, context.process)) {}

  bool enter(const char* name) {
    switch (original(mirror_.name_of(name))) {
      case Operations::Presence::there:
        return mirror_.enter(name);
      case Operations::Presence::absent:
        count_difference_here(counters_, walk_.path(), "is not in the original");
        break;
      case Operations::Presence::failed:
        break;
    }
    return false;
  }

  After leave(const char*, bool) {
    mirror_.leave();
    return After::go_on;
  }

  bool regular(const char* name) {
    if (original(name) == Operations::Presence::absent) {
      count_difference(walk_.operations(), name, "is not in the original");
    }
    return true;
  }

  bool other(const char* name) { return regular(name); }

 private:
  Operations::Presence original(const char* name) {
    struct stat status;
    return mirror_.operations().look_for(name, status);
  }

  Counters& counters_;
  Walk& walk_;
  Mirror mirror_;
};

void verify(Context& context) {
  Walk walk(context);
  Comparer comparer(context, walk);
  walk.tree(tree_directory(1, context.repetition, context.process).c_str(), comparer);
  Surplus surplus(context, walk);
  walk.tree(tree_directory(2, context.repetition, context.process).c_str(), surplus, Walk::Absent::is_fine);
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
                  .run = run,
                  .verify = verify};

}  // namespace mongo::phases::phase_copy
