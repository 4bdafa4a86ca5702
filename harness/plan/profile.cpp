#include "harness/plan/profile.h"

#include <fmt/format.h>

#include "harness/core/errors.h"
#include "harness/plan/words.h"

namespace mongo {
namespace {

constexpr std::uint64_t mib = 1024 * 1024;

phases::TreeParameters tree(std::uint64_t median, std::uint64_t bytes, std::uint64_t max) {
  phases::TreeParameters parameters;
  parameters.bytes_to_consume = bytes;
  parameters.median_file_size = median;
  parameters.max_file_size = max;
  parameters.median_dir_files = 100;
  parameters.max_dir_files = 10000;
  parameters.median_dir_branching = 0;
  parameters.max_dir_branching = 1;
  return parameters;
}

}  // namespace

const std::vector<Profile>& profiles() {
  // classic and ltp are mongo.pl's parameters: those of the tables published around 2001, and those of the copy in the
  // Linux Test Project.
  static const std::vector<Profile> all{
      {"classic",
       "the published tables: files of median 100, 1000 and 10000 bytes, 10, 20 and 20 MiB a tree",
       {tree(100, 10 * mib, 100'000), tree(1000, 20 * mib, 100'000), tree(10'000, 20 * mib, 100'000)}},
      {"ltp",
       "the tool as distributed: median 100, 1000, 10000 and 100000 bytes, 50, 100, 100 and 100 MiB a tree",
       {tree(100, 50 * mib, 1'000'000), tree(1000, 100 * mib, 1'000'000), tree(10'000, 100 * mib, 1'000'000),
        tree(100'000, 100 * mib, 1'000'000)}},
      {"smoke", "does it work here: median 100 bytes, 1 MiB, one repetition", {tree(100, mib, 100'000)}, 4096, 1},
  };
  return all;
}

const Profile& find_profile(const std::string& name) {
  std::vector<std::string> names;
  for (const Profile& profile : profiles()) {
    if (profile.name == name) return profile;
    names.push_back(profile.name);
  }
  const std::string hint = nearest(name, names);
  throw UsageError(fmt::format("profile '{}' is not known{}. There are: {}", name,
                               hint.empty() ? "" : fmt::format(" (did you mean {}?)", hint), fmt::join(names, ", ")));
}

}  // namespace mongo
