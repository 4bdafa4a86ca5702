#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <string>

namespace mongo::test {

/// stdout and stderr of this process, in memory.
class Captured {
 public:
  Captured() {
    for (const int target : {STDOUT_FILENO, STDERR_FILENO}) {
      files_[target] = memfd_create("captured", MFD_CLOEXEC);
      dup2(files_[target], target);
    }
  }
  void clear() {
    for (const auto& [target, file] : files_) {
      if (ftruncate(file, 0) != 0 || lseek(file, 0, SEEK_SET) != 0) _exit(4);
    }
  }
  std::string text(int target) {
    std::string all(static_cast<std::size_t>(lseek(files_[target], 0, SEEK_END)), '\0');
    return pread(files_[target], all.data(), all.size(), 0) >= 0 ? all : "";
  }

 private:
  std::map<int, int> files_;
};

}  // namespace mongo::test
