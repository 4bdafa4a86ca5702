// kill_rounds MONGO [ROUNDS [SEED [FILESYSTEM [DEVICE [SIGNAL]]]]]: ends runs at random moments and prints how often
// nothing was left and the next run succeeded. Needs root. Uses a folder of its own in /var/tmp, which it removes.
#include "tests/support/kill_rounds.h"

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: kill_rounds MONGO [ROUNDS [SEED [FILESYSTEM [DEVICE [SIGNAL]]]]]\n");
    return 2;
  }
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 200;
  const auto seed = static_cast<unsigned>(argc > 3 ? std::atoi(argv[3]) : 1);
  const std::string filesystem = argc > 4 ? argv[4] : "ext4", device = argc > 5 ? argv[5] : "ram:64MiB";
  char folder[] = "/var/tmp/mongo-kill-XXXXXX";
  if (mkdtemp(folder) == nullptr) return 1;
  const std::pair<const char*, std::vector<int>> kinds[] = {
      {"SIGKILL", {SIGKILL}}, {"SIGINT", {SIGINT}}, {"SIGTERM", {SIGTERM}}, {"two signals", {SIGTERM, SIGINT}}};
  bool all_well = true;
  mongo::test::KillRounds runs(argv[1], folder, device, seed, filesystem);
  for (const auto& [name, signals] : kinds) {
    if (argc > 6 && std::string(name) != argv[6]) continue;
    int well = 0;
    for (int i = 0; i < rounds; ++i) {
      const std::string problem = runs.round(signals);
      if (problem.empty()) {
        ++well;
      } else {
        std::printf("%s, round %d: %s\n", name, i, problem.c_str());
        std::fflush(stdout);
      }
    }
    std::printf("%s: %d of %d\n", name, well, rounds);
    if (runs.hung() > 0) std::printf("%d further runs were ended by --phase-timeout\n", runs.hung());
    std::fflush(stdout);
    all_well = all_well && well == rounds;
  }
  mongo::test::fs::remove_all(folder);
  return all_well ? 0 : 1;
}
