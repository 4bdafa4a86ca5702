#include "phases/catalogue.h"

#include <algorithm>

#include "mongo_phases_entries.inc"

namespace mongo::phases {

const std::vector<const Phase*>& catalogue() {
  static const std::vector<const Phase*> phases = [] {
#define MONGO_ADDRESS(entry) &entry,
    std::vector<const Phase*> list{MONGO_ENTRIES(MONGO_ADDRESS)};
#undef MONGO_ADDRESS
    std::stable_sort(list.begin(), list.end(),
                     [](const Phase* a, const Phase* b) { return a->position < b->position; });
    return list;
  }();
  return phases;
}

const Phase* find(std::string_view name) {
  for (const Phase* phase : catalogue()) {
    if (name == phase->name) {
      return phase;
    }
  }
  return nullptr;
}

}  // namespace mongo::phases
