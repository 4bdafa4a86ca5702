#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/core/record.h"
#include "harness/report/column_names.h"

namespace mongo {

/// What differs between runs that stand side by side, and what they share that is not the default. Runs that got to no
/// phase have no figures, so they differ from none.
class Differences {
 public:
  Differences(const std::vector<RunRecord>& runs, const std::vector<ColumnName>& names);

  /// A line for each difference because of which the figures are not comparable.
  const std::string& warnings() const { return warnings_; }
  /// A line about the conditions that are the same in all runs and not the default; empty if there are none.
  const std::string& common() const { return common_; }
  /// Whether the times of this phase may be put in an order.
  bool comparable(const std::string& phase) const;
  /// What has to be said of the caches that this phase found, because common() does not; empty if nothing.
  std::string cache_note(const PhaseRecord& phase) const;

 private:
  /// Of the caches that the phases of one name found.
  struct Caches {
    std::set<std::string> states;  // "drop"
    std::set<std::string> texts;   // the same with the reasons
  };

  void find_caches();
  std::string cache_warnings() const;
  std::string common_caches() const;
  void find_common();
  std::string difference(const std::string& what, std::string (*value)(const RunRecord&)) const;
  std::string difference(const std::string& what, const std::vector<std::string>& values) const;

  std::vector<const RunRecord*> runs_;  // with figures
  std::vector<std::string> names_;      // of these
  std::map<std::string, Caches> caches_;
  std::vector<std::string> phases_;  // the keys of caches_, in the order of the runs
  bool same_conditions_ = true;
  std::string warnings_;
  std::string common_;
};

}  // namespace mongo
