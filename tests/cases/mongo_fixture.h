#pragma once

#include <nlohmann/json.hpp>
#include <thread>

#include "tests/support/device_fixture.h"

namespace mongo::test {

using Json = nlohmann::ordered_json;

/// Runs the built program on real devices, as a user would.
class MongoTest : public DeviceTest {
 protected:
  using Arguments = std::vector<std::string>;

  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    loops_before_ = run({"losetup", "-a"}).out;
  }

  std::string results() const { return path("results"); }
  std::string point() const { return path("mnt"); }

  /// mongo run FILESYSTEM DEVICE POINT log PROCESSES --results ... MORE...
  CommandResult mongo_run(const std::string& filesystem, const std::string& device, const Arguments& more = {},
                          const std::string& processes = "1") {
    Arguments argv{MONGO_PROGRAM, "run", filesystem, device, point(), "log", processes, "--results", results()};
    argv.insert(argv.end(), more.begin(), more.end());
    return run(argv);
  }

  /// The records of results/log.jsonl, oldest first.
  std::vector<Json> records() const {
    std::vector<Json> all;
    std::ifstream in(results() + "/log.jsonl");
    std::string line;
    while (std::getline(in, line)) all.push_back(Json::parse(line));
    return all;
  }
  Json last_record() const {
    const std::vector<Json> all = records();
    return all.empty() ? Json() : all.back();
  }

  static Json phase(const Json& record, const std::string& name, std::size_t pass = 0) {
    for (const Json& phase : record.at("passes").at(pass).at("phases")) {
      if (phase.at("name") == name) return phase;
    }
    return {};
  }

  /// Nothing of a run is left: no mount, no process, and the mount point is as it was.
  void expect_nothing_left() {
    EXPECT_EQ(slurp("/proc/self/mountinfo").find(point()), std::string::npos);
    EXPECT_EQ(run({"pgrep", "-f", std::string(MONGO_PROGRAM) + " run .* " + point()}).out, "");
  }

  /// Refused: that status, the words in the message, no result, and the device untouched.
  void expect_refusal(const CommandResult& result, int status, const std::vector<std::string>& words) {
    EXPECT_EQ(result.exit_status, status) << result.err;
    for (const std::string& word : words)
      EXPECT_NE(result.err.find(word), std::string::npos) << word << " in: " << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_FALSE(fs::exists(results() + "/log.jsonl"));
    expect_nothing_left();
  }

  std::string loops_before_;
};

}  // namespace mongo::test
