#pragma once

#include <map>
#include <string>
#include <vector>

#include "phases/phase.h"

namespace mongo {

/// What is done to the caches before each repetition of a phase.
enum class CachePolicy {
  warm,     // nothing: what earlier phases left in memory stays there, as in mongo.pl
  drop,     // sync, then drop_caches (proc_sys_vm(5))
  remount,  // unmount and mount: the honest stand-in for a reboot
};
const char* cache_policy_name(CachePolicy policy);

/// By the names of phases; a phase that is not in it has the policy warm.
using CachePolicies = std::map<std::string, CachePolicy>;

/// "drop" for all phases, or "read=drop,stat=remount" for those; a later word wins. Throws UsageError.
CachePolicies parse_cache(const std::string& text, const std::vector<const phases::Phase*>& phases);

CachePolicy policy_of(const CachePolicies& policies, const std::string& phase);

}  // namespace mongo
