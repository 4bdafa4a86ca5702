#include "phases/phase.h"

#include <algorithm>
#include <cstring>

namespace mongo::phases {

const char* operation_name(Operation operation) {
  switch (operation) {
    case Operation::create:
      return "create";
    case Operation::write:
      return "write";
    case Operation::close:
      return "close";
    case Operation::open:
      return "open";
    case Operation::read:
      return "read";
    case Operation::lstat:
      return "lstat";
    case Operation::symlink:
      return "symlink";
    case Operation::readlink:
      return "readlink";
    case Operation::rename:
      return "rename";
    case Operation::unlink:
      return "unlink";
    case Operation::mkdir:
      return "mkdir";
    case Operation::rmdir:
      return "rmdir";
    case Operation::read_directory:
      return "read_directory";
    case Operation::change_directory:
      return "change_directory";
    case Operation::fsync:
      return "fsync";
    case Operation::verify:
      return "verify";
  }
  return "unknown";
}

namespace {

/// Puts text before what already stands at the end of buffer, cutting its front when there is no room.
/// Returns the new beginning.
std::size_t prepend(char* buffer, std::size_t begin, const char* text) {
  const std::size_t length = std::strlen(text);
  const std::size_t kept = std::min(length, begin);
  std::memcpy(buffer + begin - kept, text + length - kept, kept);
  return begin - kept;
}

void keep_path(ErrorCount& error, const char* path_prefix, const char* name) {
  constexpr std::size_t size = sizeof error.first_path;
  char* buffer = error.first_path;
  buffer[size - 1] = '\0';
  std::size_t begin = prepend(buffer, size - 1, name);
  if (*path_prefix != '\0' && *name != '\0') {
    begin = prepend(buffer, begin, "/");
  }
  begin = prepend(buffer, begin, path_prefix);
  std::memmove(buffer, buffer + begin, size - begin);
}

}  // namespace

void Counters::count_error(Operation operation, int error_number, const char* path_prefix, const char* name) {
  for (std::uint32_t i = 0; i < error_kinds; ++i) {
    if (errors[i].operation == operation && errors[i].error_number == error_number) {
      ++errors[i].count;
      return;
    }
  }
  if (error_kinds == max_error_kinds) {
    ++errors_not_kept;
    return;
  }
  ErrorCount& error = errors[error_kinds];
  error.operation = operation;
  error.error_number = error_number;
  error.count = 1;
  keep_path(error, path_prefix, name);
  ++error_kinds;  // last: a worker that is killed here leaves no half-filled kind behind
}

std::string tree_directory(int which, int repetition, int process) {
  return "testdir" + std::to_string(which) + "-" + std::to_string(repetition) + "-" + std::to_string(process);
}

}  // namespace mongo::phases
