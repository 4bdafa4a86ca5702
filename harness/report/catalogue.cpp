#include "harness/report/catalogue.h"

#include <algorithm>

#include "mongo_report_entries.inc"

namespace mongo {

const std::vector<const Format*>& formats() {
  static const std::vector<const Format*> sorted = [] {
#define MONGO_ADDRESS(entry) &(entry),
    std::vector<const Format*> all = {MONGO_ENTRIES(MONGO_ADDRESS)};
#undef MONGO_ADDRESS
    std::sort(all.begin(), all.end(), [](const Format* a, const Format* b) { return a->position < b->position; });
    return all;
  }();
  return sorted;
}

}  // namespace mongo
