#include "harness/plan/cache_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/core/errors.h"
#include "harness/plan/words.h"

namespace mongo {
namespace {

constexpr CachePolicy all_policies[] = {CachePolicy::warm, CachePolicy::drop, CachePolicy::remount};

CachePolicy parse_policy(const std::string& name) {
  std::vector<std::string> names;
  for (const CachePolicy policy : all_policies) {
    if (name == cache_policy_name(policy)) return policy;
    names.emplace_back(cache_policy_name(policy));
  }
  const std::string hint = nearest(name, names);
  throw UsageError(fmt::format("--cache: '{}' is no policy{}. There are: {}; alone for all phases, or as PHASE=POLICY",
                               name, hint.empty() ? "" : fmt::format(" (did you mean {}?)", hint),
                               fmt::join(names, ", ")));
}

}  // namespace

const char* cache_policy_name(CachePolicy policy) {
  switch (policy) {
    case CachePolicy::warm:
      return "warm";
    case CachePolicy::drop:
      return "drop";
    case CachePolicy::remount:
      return "remount";
  }
  return "unknown";
}

CachePolicies parse_cache(const std::string& text, const std::vector<const phases::Phase*>& phases) {
  std::vector<std::string> names;
  for (const phases::Phase* phase : phases) names.emplace_back(phase->name);
  CachePolicies policies;
  std::set<std::string> named;
  for (const std::string& word : split_commas(text)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
      const CachePolicy policy = parse_policy(word);
      for (const std::string& name : names) policies[name] = policy;
      continue;
    }
    const std::string name = word.substr(0, equals);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      const std::string hint = nearest(name, names);
      throw UsageError(fmt::format("--cache: '{}' is no phase of this run{}. There are: {}", name,
                                   hint.empty() ? "" : fmt::format(" (did you mean {}?)", hint),
                                   fmt::join(names, ",")));
    }
    if (!named.insert(name).second) throw UsageError(fmt::format("--cache: '{}' is named twice", name));
    policies[name] = parse_policy(word.substr(equals + 1));
  }
  return policies;
}

CachePolicy policy_of(const CachePolicies& policies, const std::string& phase) {
  const auto found = policies.find(phase);
  return found == policies.end() ? CachePolicy::warm : found->second;
}

}  // namespace mongo
