#pragma once

#include <dirent.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "phases/phase.h"
#include "phases/support/current_path.h"
#include "phases/support/operations.h"

namespace mongo::phases {

/// What a walk does with what it meets. Derive from it and hide what is of interest. Names are relative to the current
/// directory and valid during the call only. The functions that return bool say whether all went well.
struct WalkVisitor {
  bool regular(const char*) { return true; }
  bool other(const char*) { return true; }  // neither regular nor a directory
  /// A directory was met and is the current directory now; false leaves it at once without leave().
  bool enter(const char*) { return true; }
  enum class After { go_on, again, failed };
  /// All of the directory has been seen, and its parent is the current directory again (for the top, the mount point).
  /// With may_repeat, After::again goes through it once more, without a further enter().
  After leave(const char*, bool /*may_repeat*/) { return After::go_on; }
};

/// Goes through directory trees in the order in which the kernel returns the entries, into a subdirectory when it is
/// met, like find. Symbolic links are not followed. Works in the current directory and with names relative to it: the
/// length of paths has no limit, and no path is looked up again and again.
///
/// At most open_levels directories are open at a time. Those further up are opened again on the way back and continued
/// at the offset of the last entry seen. Entries may be created, renamed and removed while their directory is read;
/// whether the walk meets the new ones is up to the file system.
///
/// Failures are counted, and the walk goes on with what is left.
class Walk {
 public:
  static constexpr std::size_t open_levels = 16;
  static constexpr std::size_t buffer_size = 32768;  // of one directory; what the C library and find use
  static constexpr int most_repeats = 16;            // of one directory, asked for by After::again

  explicit Walk(const Context& context);
  ~Walk();
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  enum class Absent { is_an_error, is_fine };

  /// The directory `top` of the mount point and all below it.
  template <class Visitor>
  void tree(const char* top, Visitor& visitor, Absent absent = Absent::is_an_error) {
    if (go_to_mount_point()) {
      enter_directory(top, 0, visitor, absent);
      run(visitor);
    }
  }

  /// All of the file system under test but its own files. The root is neither entered nor left in the sense of the
  /// visitor.
  template <class Visitor>
  void whole_file_system(Visitor& visitor) {
    if (go_to_mount_point() && open_root()) {
      run(visitor);
    }
  }

  /// For system calls in the current directory of the walk.
  Operations& operations() { return operations_; }
  LatencyClock& clock() { return clock_; }
  CurrentPath& path() { return path_; }

 private:
  /// As getdents64(2) writes it.
  struct Entry {
    std::uint64_t inode;
    std::int64_t offset;  // of the next entry
    std::uint16_t length;
    std::uint8_t type;
    char name[1];
  };

  struct Level {
    int fd;                  // -1: closed to save descriptors, or could not be opened again
    std::uint32_t position;  // in the buffer, of the next entry
    std::uint32_t end;       // of what the buffer holds
    std::int64_t offset;     // where to continue after the last entry seen
    std::int16_t repeats;    // how often it was gone through again
    bool trouble;            // something in it or below it failed
  };

  template <class Visitor>
  void run(Visitor& visitor) {
    while (!levels_.empty()) {
      const Entry* entry = next_entry();
      if (entry == nullptr) {
        leave_directory(visitor);
        continue;
      }
      const char* const name = entry->name;
      if (!own_files_.empty() && is_own_file(name)) {
        continue;
      }
      bool well = true;
      switch (entry->type == DT_UNKNOWN ? type_of(name) : entry->type) {
        case DT_REG:
          well = visitor.regular(name);
          break;
        case DT_DIR:
          if (!is_dot_or_dot_dot(name)) {
            well = enter_directory(name, 0, visitor);
          }
          break;
        case DT_UNKNOWN:
          well = false;
          break;
        default:
          well = visitor.other(name);
      }
      if (!well) {
        note_trouble();
      }
    }
  }

  const Entry* next_entry() {
    Level& level = levels_.back();
    if (level.position == level.end && !refill(level)) {
      return nullptr;
    }
    const auto* entry = reinterpret_cast<const Entry*>(buffer_ + level.position);
    level.position += entry->length;
    level.offset = entry->offset;
    return entry;
  }

  template <class Visitor>
  bool enter_directory(const char* name, int repeats, Visitor& visitor, Absent absent = Absent::is_an_error) {
    if (!descend(name, repeats, absent)) {
      return false;
    }
    // The last component of the path: name may lie in a buffer that is in use again.
    if (repeats == 0 && !visitor.enter(path_.name())) {
      ascend();
      return false;
    }
    return true;
  }

  template <class Visitor>
  void leave_directory(Visitor& visitor) {
    if (levels_.size() == 1 && whole_) {
      ascend();
      return;
    }
    const Level left = levels_.back();
    char name[sizeof(dirent::d_name)];
    keep_name(name, sizeof name);
    if (!ascend()) {
      return;
    }
    const bool may_repeat = !left.trouble && left.repeats < most_repeats;
    switch (visitor.leave(name, may_repeat)) {
      case WalkVisitor::After::go_on:
        if (left.trouble) {
          note_trouble();
        }
        break;
      case WalkVisitor::After::again:
        if (!enter_directory(name, left.repeats + 1, visitor)) {
          note_trouble();
        }
        break;
      case WalkVisitor::After::failed:
        note_trouble();
    }
  }

  static bool is_dot_or_dot_dot(const char* name) {
    return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
  }

  /// Whether the entry of the current directory is the file system's own.
  bool is_own_file(const char* name) const;

  void note_trouble() {
    if (!levels_.empty()) {
      levels_.back().trouble = true;
    }
  }

  bool refill(Level& level);
  bool go_to_mount_point();
  bool open_root();
  bool descend(const char* name, int repeats, Absent absent);
  void push_level(int fd, int repeats);
  bool ascend();
  bool reopen(Level& level);
  void give_up();
  unsigned char type_of(const char* name);
  void keep_name(char* name, std::size_t size) const;
  void use_buffer_of(std::size_t depth);

  int mount_fd_;
  std::span<const std::string> own_files_;
  CurrentPath path_;
  LatencyClock clock_;
  Operations operations_;
  bool whole_ = false;  // the first level is the root of the file system
  std::vector<Level> levels_;
  char* buffer_ = nullptr;                                      // of the last level
  std::array<std::unique_ptr<char[]>, open_levels> buffers_{};  // of the level with that remainder
};

}  // namespace mongo::phases
