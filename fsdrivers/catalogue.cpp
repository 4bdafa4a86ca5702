#include "fsdrivers/catalogue.h"

#include <algorithm>

#include "mongo_fsdrivers_entries.inc"

namespace mongo::fsdrivers {

const std::vector<FilesystemDriver>& catalogue() {
  static const std::vector<FilesystemDriver> drivers = [] {
    std::vector<FilesystemDriver> all;
#define MONGO_ADD(entries_of) \
  for (FilesystemDriver & driver : entries_of()) all.push_back(std::move(driver));
    MONGO_ENTRIES(MONGO_ADD)
#undef MONGO_ADD
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return all;
  }();
  return drivers;
}

const FilesystemDriver* find(std::string_view name) {
  for (const FilesystemDriver& driver : catalogue()) {
    if (driver.name == name) return &driver;
  }
  return nullptr;
}

}  // namespace mongo::fsdrivers
