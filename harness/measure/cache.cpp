#include "harness/measure/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <vector>

#include "harness/core/descriptor.h"
#include "harness/core/errors.h"

namespace mongo {
namespace {

// linux/mman.h has them since 6.5; older headers do not. The number is the same on all architectures but alpha.
constexpr long number_of_cachestat = 451;
struct CacheRange {
  std::uint64_t offset, length;
};
struct CacheState {
  std::uint64_t cached, dirty, written_back, evicted, recently_evicted;  // pages
};

std::int64_t resident_by_mincore(int fd, std::size_t size, std::size_t page) {
  void* const memory = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return -1;
  std::vector<unsigned char> pages((size + page - 1) / page);
  const int result = mincore(memory, size, pages.data());
  const int error = errno;
  munmap(memory, size);
  errno = error;
  if (result != 0) return -1;
  return std::count_if(pages.begin(), pages.end(), [](unsigned char p) { return (p & 1U) != 0; }) *
         static_cast<std::int64_t>(page);
}

class Folder {
 public:
  Folder(int parent, const char* name) {
    const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW | O_NOATIME);
    if (fd < 0) return;
    folder_.reset(fdopendir(fd));
    if (!folder_) ::close(fd);
  }
  explicit operator bool() const { return folder_ != nullptr; }
  int fd() const { return dirfd(folder_.get()); }
  const dirent* next() { return readdir(folder_.get()); }

 private:
  struct Close {
    void operator()(DIR* folder) const { closedir(folder); }
  };
  std::unique_ptr<DIR, Close> folder_;
};

/// Adds one file of the folder if it has data. Returns whether it had.
bool sample_file(int folder, const char* name, Residency& residency) {
  const Descriptor file(openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOATIME));
  struct stat info {};
  if (!file || fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) return false;
  const std::int64_t bytes = resident_bytes(file.get());
  if (bytes < 0) {
    residency.trouble = "cachestat and mincore: " + errno_text(errno);
    return false;
  }
  ++residency.files;
  residency.resident_bytes += static_cast<std::uint64_t>(bytes);
  return true;
}

}  // namespace

int drop_caches(const char* file) {
  const Descriptor control(open(file, O_WRONLY | O_CLOEXEC));
  if (!control) return errno;
  for (int i = 0; i < 2; ++i) {
    if (write(control.get(), "3\n", 2) != 2) return errno;
  }
  return 0;
}

std::int64_t resident_bytes(int fd) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  CacheRange whole{0, 0};  // length 0: to the end
  CacheState state{};
  if (syscall(number_of_cachestat, fd, &whole, &state, 0) == 0) return static_cast<std::int64_t>(state.cached * page);
  struct stat info {};
  if (fstat(fd, &info) != 0) return -1;
  return info.st_size == 0 ? 0 : resident_by_mincore(fd, static_cast<std::size_t>(info.st_size), page);
}

Residency sample_residency(int root_fd, unsigned most) {
  Residency residency;
  Folder root(root_fd, ".");
  std::vector<std::string> trees;
  while (root) {
    const dirent* entry = root.next();
    if (entry == nullptr) break;
    if (std::string_view(entry->d_name).starts_with("testdir")) trees.emplace_back(entry->d_name);
  }
  if (!root) residency.trouble = "the root directory cannot be read: " + errno_text(errno);
  // The last trees first: what was written last is the likeliest to be in memory still.
  std::sort(trees.rbegin(), trees.rend());
  const std::size_t folders = std::min<std::size_t>(trees.size(), 4);
  for (std::size_t i = 0; i < folders && residency.trouble.empty(); ++i) {
    Folder tree(root_fd, trees[i].c_str());
    const std::uint64_t limit = most * (i + 1) / folders;
    while (tree && residency.files < limit && residency.trouble.empty()) {
      const dirent* entry = tree.next();
      if (entry == nullptr) break;
      sample_file(tree.fd(), entry->d_name, residency);
    }
  }
  return residency;
}

}  // namespace mongo
