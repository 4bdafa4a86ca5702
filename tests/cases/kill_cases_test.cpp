// A run may be ended at any moment: afterwards nothing of it is left, and the next run succeeds.
// tests/bench/kill_rounds.cpp does the same for as long as you like.
#include "tests/cases/mongo_fixture.h"
#include "tests/support/kill_rounds.h"

namespace mongo {
namespace {

class KillCases : public test::MongoTest {
 protected:
  void rounds(const std::string& device, const std::vector<int>& signals, int count) {
    test::KillRounds rounds(MONGO_PROGRAM, folder_, device, 1);
    for (int i = 0; i < count; ++i) EXPECT_EQ(rounds.round(signals), "") << "round " << i;
  }
};

TEST_F(KillCases, SigkillInMemory) { rounds("ram:64MiB", {SIGKILL}, 20); }
TEST_F(KillCases, SigkillOnAFile) {
  setenv("TMPDIR", folder_.c_str(), 1);
  rounds("loop:64MiB", {SIGKILL}, 10);
  unsetenv("TMPDIR");
}
TEST_F(KillCases, SigkillOnABlockDevice) { rounds(device(64 * test::MiB), {SIGKILL}, 12); }
TEST_F(KillCases, Sigint) { rounds("ram:64MiB", {SIGINT}, 8); }
TEST_F(KillCases, Sigterm) { rounds("ram:64MiB", {SIGTERM}, 8); }
TEST_F(KillCases, TwoSignals) { rounds("ram:64MiB", {SIGINT, SIGTERM, SIGINT}, 8); }

}  // namespace
}  // namespace mongo
