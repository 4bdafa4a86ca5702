#pragma once

#include "harness/core/record.h"
#include "harness/plan/cache_policy.h"
#include "harness/run/mounted_filesystem.h"

namespace mongo {

/// Brings the caches into the state that the policy wants before a repetition, looks whether they are in it, and adds
/// to the record what was found and how long it took. Returns the state: where drop_caches is refused or does not help
/// it is remount, and warm where that cannot be done either; the record has the reason. Throws RunError when nothing is
/// mounted any more.
CachePolicy prepare_caches(CachePolicy policy, MountedFilesystem& filesystem, CacheRecord& cache);

}  // namespace mongo
