#include "harness/device/mkfs_options.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "harness/core/errors.h"

namespace mongo {
namespace {

bool exists(const std::string& name) {
  struct stat info {};
  const std::string path = name.starts_with('/') ? name : "/" + name;
  return !name.empty() && lstat(path.c_str(), &info) == 0;
}

void check_part(const std::string& part, const std::string& word) {
  if (part.find('/') == std::string::npos && !exists(part)) return;
  throw UsageError(fmt::format(
      "--mkfs-options: '{}' names a file or a device{}. mkfs may touch nothing but DEVICE, so such options are refused",
      word, part == word ? "" : fmt::format(" ('{}')", part)));
}

}  // namespace

void check_mkfs_options(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--") throw UsageError("--mkfs-options: '--' would end the options before DEVICE");
    std::size_t start = 0;
    while (true) {
      const std::size_t end = word.find_first_of("=,:", start);
      check_part(word.substr(start, end - start), word);
      if (end == std::string::npos) break;
      start = end + 1;
    }
    // An option letter with its value attached, like -j/path.
    if (word.size() > 2 && word[0] == '-' && word[1] != '-') check_part(word.substr(2), word);
  }
}

}  // namespace mongo
