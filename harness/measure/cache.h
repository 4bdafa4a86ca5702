#pragma once

#include <cstdint>
#include <string>

namespace mongo {

/// Throws clean pages, dentries and inodes out of memory (writes 3 to /proc/sys/vm/drop_caches; proc_sys_vm(5)), twice:
/// buffers that a journal holds at the first time are let go of by it, and go at the second. What is dirty stays: sync
/// before. Returns 0 or an errno. `file` is for tests.
int drop_caches(const char* file = "/proc/sys/vm/drop_caches");

/// What some files of a file system have in the page cache.
struct Residency {
  std::uint64_t files = 0;           // looked at
  std::uint64_t resident_bytes = 0;  // of them in memory
  std::string trouble;               // why it could not be found out; empty otherwise
};

/// Looks at up to `most` files with data, spread over the trees of the phases below root_fd. Reads no data, but brings
/// the directories and inodes of those few back into memory. Uses cachestat(2), or mincore(2) before Linux 6.5.
Residency sample_residency(int root_fd, unsigned most = 16);

/// Bytes of one open file in the page cache, or -1 with errno.
std::int64_t resident_bytes(int fd);

}  // namespace mongo
