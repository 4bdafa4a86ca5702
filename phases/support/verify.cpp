#include "phases/support/verify.h"

#include <charconv>
#include <optional>
#include <stdexcept>

#include "phases/support/content.h"
#include "phases/support/decimal_name.h"
#include "phases/support/tree.h"
#include "phases/support/tree_follower.h"

namespace mongo::phases {

void count_difference(Operations& operations, const char* name, const std::string& what) {
  operations.fail(Operation::verify, 0, (std::string(name) + " " + what).c_str());
}

void count_wrong_size(Operations& operations, const char* name, std::uint64_t found, std::uint64_t expected) {
  count_difference(operations, name, "has " + std::to_string(found) + " bytes instead of " + std::to_string(expected));
}

void count_difference_here(Counters& counters, const CurrentPath& path, const std::string& what) {
  counters.count_error(Operation::verify, 0, "", (std::string(path.relative()) + " " + what).c_str());
}

bool find_kind(Operations& operations, const char* name, mode_t kind, const char* other_kind, struct stat* status) {
  struct stat own;
  struct stat& found = status != nullptr ? *status : own;
  switch (operations.look_for(name, found)) {
    case Operations::Presence::there:
      if ((found.st_mode & S_IFMT) == kind) {
        return true;
      }
      count_difference(operations, name, other_kind);
      break;
    case Operations::Presence::absent:
      count_difference(operations, name, "is missing");
      break;
    case Operations::Presence::failed:
      break;
  }
  return false;
}

std::string shown(std::string_view text) {
  // Two of them and a path fit into ErrorCount::first_path.
  constexpr std::size_t longest = 64;
  std::string result;
  if (text.size() > longest) {
    result = "...";
    text.remove_prefix(text.size() - longest + result.size());
  }
  for (const char c : text) {
    result += c >= ' ' && c <= '~' ? c : '?';
  }
  return result;
}

namespace {

/// Goes through a tree along the generator's events.
class TreeVerifier : public TreeFollower<TreeVerifier> {
 public:
  TreeVerifier(Context& context, const std::string& suffix)
      : TreeFollower(context), content_(*context.content), comparison_(content_.largest_piece()), suffix_(suffix) {}

  /// To the tree's own directory. False when it is not there.
  bool begin(int mount_fd, const char* name, Walk::Absent absent) {
    struct stat status;
    return operations_.change_directory(mount_fd, ".") &&
           (absent == Walk::Absent::is_an_error || operations_.look_for(name, status) == Operations::Presence::there) &&
           enter(name);
  }

  void file(std::uint64_t number, std::uint64_t size) {
    if (skipping()) {
      return;
    }
    content_.begin_file(number);
    const std::string name = std::to_string(number) + suffix_;
    if (comparison_.file(operations_, name.c_str(), size, [&](std::size_t length) { return content_.piece(length); })) {
      operations_.count_file();
    }
  }

  bool enter(const char* name) {
    if (!find_directory(operations_, name) || !operations_.change_directory(name)) {
      return false;
    }
    path_.enter(name);
    return true;
  }

 private:
  Content& content_;
  Comparison comparison_;
  const std::string& suffix_;
};

/// Finds files and directories that the tree does not have. Those that have a name of the tree but lie in a wrong place
/// are found by their number: what should be there has been looked for before.
class Strangers : public WalkVisitor {
 public:
  Strangers(const Context& context, const TreeOutline& outline, const std::string& suffix, Walk& walk)
      : counters_(*context.counters), outline_(outline), suffix_(suffix), walk_(walk) {}

  bool regular(const char* name) {
    const std::optional<std::uint64_t> number = number_in(name, "", suffix_);
    if (number && *number >= 1 && *number <= outline_.files) {
      ++files_;
    } else {
      count_difference(walk_.operations(), name, "is not of the tree");
    }
    return true;
  }

  bool enter(const char* name) {
    if (depth_ > 0) {
      const std::optional<std::uint64_t> number = number_in(name, "d", "");
      if (!number || *number >= outline_.directories) {
        count_difference_here(counters_, walk_.path(), "is not of the tree");
        return false;
      }
      ++directories_;
    }
    ++depth_;
    return true;
  }

  After leave(const char*, bool) {
    --depth_;
    return After::go_on;
  }

  /// To be called after the walk.
  void finish(const char* top) {
    tell_surplus(top, files_, outline_.files, " files");
    tell_surplus(top, directories_, outline_.directories, " directories");
  }

 private:
  void tell_surplus(const char* top, std::uint64_t found, std::uint64_t expected, const char* what) {
    if (found > expected) {
      count_difference(walk_.operations(), top,
                       "has " + std::to_string(found) + what + " instead of " + std::to_string(expected));
    }
  }

  /// The number in a name as the tree writes it: without leading zeros.
  static std::optional<std::uint64_t> number_in(std::string_view name, const std::string& prefix,
                                                const std::string& suffix) {
    std::uint64_t number = 0;
    std::from_chars(name.data() + std::min(prefix.size(), name.size()), name.data() + name.size(), number);
    return name == prefix + std::to_string(number) + suffix ? std::optional(number) : std::nullopt;
  }

  Counters& counters_;
  const TreeOutline& outline_;
  const std::string& suffix_;
  Walk& walk_;
  std::uint64_t files_ = 0;
  std::uint64_t directories_ = 0;
  std::uint64_t depth_ = 0;
};

}  // namespace

bool find_directory(Operations& operations, const char* name) {
  return find_kind(operations, name, S_IFDIR, "is not a directory");
}

void verify_tree(Context& context, int which, const std::string& suffix, Walk::Absent absent) {
  if (context.content == nullptr) {
    throw std::invalid_argument("verify: there is no content to compare with");
  }
  const std::string top = tree_directory(which, context.repetition, context.process);
  const TreeOutline outline = outline_tree(context.tree);
  TreeVerifier verifier(context, suffix);
  if (!verifier.begin(context.mount_fd, top.c_str(), absent)) {
    return;
  }
  TreeGenerator(context.tree, outline).run(verifier);
  Walk walk(context);
  Strangers strangers(context, outline, suffix, walk);
  walk.tree(top.c_str(), strangers);
  strangers.finish(top.c_str());
}

}  // namespace mongo::phases
