#include "harness/run/cold_caches.h"

#include <fmt/format.h>

#include <chrono>

#include "harness/core/errors.h"
#include "harness/measure/cache.h"
#include "harness/measure/space.h"

namespace mongo {
namespace {

void add_reason(CacheRecord& cache, const std::string& reason) {
  if (cache.reason.find(reason) != std::string::npos) return;  // the same as in an earlier repetition
  cache.reason += (cache.reason.empty() ? "" : "; ") + reason;
}

void note_warm_samples(const Residency& found, const char* after, CacheRecord& cache) {
  if (found.resident_bytes == 0) return;
  add_reason(cache, fmt::format("{} bytes of {} sampled files were in memory after {}", found.resident_bytes,
                                found.files, after));
}

void add_samples(const Residency& found, CacheRecord& cache) {
  cache.sampled_files = cache.sampled_files.value_or(0) + found.files;
  cache.resident_bytes = cache.resident_bytes.value_or(0) + found.resident_bytes;
  if (!found.trouble.empty()) add_reason(cache, "not verified: " + found.trouble);
}

/// Returns whether it worked.
bool drop(MountedFilesystem& filesystem, CacheRecord& cache) {
  filesystem.sync();  // drop_caches leaves what is dirty
  if (const int error = filesystem.drop_caches(); error != 0) {
    add_reason(cache, "drop_caches: " + errno_text(error));
    return false;
  }
  const Residency found = sample_residency(filesystem.root_fd());
  if (found.resident_bytes > 0) {
    note_warm_samples(found, "drop_caches", cache);
    return false;
  }
  add_samples(found, cache);
  return true;
}

/// Returns whether it worked.
bool remount(MountedFilesystem& filesystem, CacheRecord& cache) {
  try {
    filesystem.remount();
  } catch (const RunError& error) {
    if (filesystem.root_fd() < 0) throw;
    add_reason(cache, error.what());
    return false;
  }
  const Residency found = sample_residency(filesystem.root_fd());
  note_warm_samples(found, "remount", cache);
  add_samples(found, cache);
  return true;
}

CachePolicy empty(CachePolicy policy, MountedFilesystem& filesystem, CacheRecord& cache) {
  if (policy == CachePolicy::drop && drop(filesystem, cache)) return CachePolicy::drop;
  return remount(filesystem, cache) ? CachePolicy::remount : CachePolicy::warm;
}

}  // namespace

CachePolicy prepare_caches(CachePolicy policy, MountedFilesystem& filesystem, CacheRecord& cache) {
  if (policy == CachePolicy::warm) return policy;
  const auto start = std::chrono::steady_clock::now();
  const CachePolicy state = empty(policy, filesystem, cache);
  cache.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return state;
}

}  // namespace mongo
