// Field cases about what other programs read: names of folders, JSON on stdout, decimal points.
#include <ctime>
#include <regex>

#include "tests/cases/matrix_fixture.h"
#include "tests/support/strict_json.h"

namespace mongo {
namespace {

using test::Json;
using test::run;
using test::StrictJson;

class ReaderCases : public test::MatrixTest {
 protected:
  /// A program of that name that says a lot before it becomes the real one, in a folder for PATH. What its environment
  /// is stands in the file "environment" afterwards.
  Arguments with_talking(const std::string& name) const {
    test::fs::create_directories(path("bin"));
    const std::string file = path("bin/" + name);
    std::ofstream(file) << "#!/bin/sh\nenv > " << path("environment")
                        << "\necho 'warning: {\"out\": NaN}'\necho 'warning: {\"err\": Infinity}' >&2\nexec "
                        << find_program(name) << " \"$@\"\n";
    test::fs::permissions(file, test::fs::owner_all);
    return {"env", "PATH=" + path("bin") + ":" + getenv("PATH")};
  }

  CommandResult run_in(Arguments environment, const Arguments& arguments) const {
    environment.push_back(MONGO_PROGRAM);
    environment.insert(environment.end(), arguments.begin(), arguments.end());
    return run(environment);
  }

  Arguments run_arguments(const std::string& log, const Arguments& more) const {
    Arguments arguments{"run", "ext4", "ram:64MiB", point(), log, "1", "--profile", "smoke", "--results", results()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  static void expect_strict_lines(const std::string& text, std::size_t count) {
    std::istringstream in(text);
    std::size_t lines = 0;
    for (std::string line; std::getline(in, line); ++lines) EXPECT_EQ(StrictJson::problem(line), "") << line;
    EXPECT_EQ(lines, count);
    EXPECT_TRUE(text.empty() || text.back() == '\n');
  }
};

// Case 44: the night on which the clock goes back, and a zone that is half an hour off.
TEST_F(ReaderCases, NightlyNamesAndTimeZones) {
  if (access("/usr/share/zoneinfo/Europe/Berlin", R_OK) != 0) GTEST_SKIP() << "needs tzdata";
  const std::string file = matrix("matrix: {filesystem: ext4}\n");
  struct Night {
    const char* zone;
    const char* utc;  // when it begins
    const char* local;
    const char* offset;
  };
  // In the order of time. 02:30 in Berlin comes twice.
  const Night nights[] = {{"Asia/Kolkata", "2026-10-24T21:00:00Z", "02:30", "+05:30"},
                          {"Europe/Berlin", "2026-10-25T00:30:00Z", "02:30", "+02:00"},
                          {"Europe/Berlin", "2026-10-25T01:30:00Z", "02:30", "+01:00"}};
  std::vector<std::string> folders;
  for (const Night& night : nights) {
    std::tm when{};
    ASSERT_NE(strptime(night.utc, "%Y-%m-%dT%H:%M:%SZ", &when), nullptr);
    const std::string step = std::to_string(timegm(&when) - std::time(nullptr));
    const Arguments environment{"env",
                                std::string("TZ=") + night.zone,
                                std::string("LD_PRELOAD=") + MONGO_TEST_CLOCKS,
                                "MONGO_TEST_CLOCK=realtime",
                                "MONGO_TEST_AFTER=0",
                                "MONGO_TEST_STEP=" + step};
    Arguments clock = environment;
    clock.insert(clock.end(), {"date", "+%H:%M"});
    EXPECT_EQ(run(clock).out, std::string(night.local) + "\n") << "the clock of the test is wrong";
    const CommandResult result = run_in(environment, {"matrix", file, "--results", results()});
    ASSERT_EQ(result.exit_status, 0) << result.err;
    std::smatch found;
    ASSERT_TRUE(std::regex_search(result.out, found, std::regex("results: (\\S+)"))) << result.out;
    const std::string folder = found[1];
    folders.push_back(folder);

    // UTC with seconds and a suffix, no colon. The minute is enough: a slow machine may need some seconds.
    const std::string name = folder.substr(folder.rfind('/') + 1);
    EXPECT_TRUE(std::regex_match(name, std::regex("[0-9]{8}T[0-9]{6}Z-[0-9a-f]{6}"))) << name;
    std::string minute = std::string(night.utc).substr(0, 16);
    const std::string in_files = minute;
    for (const char c : {'-', ':'}) std::erase(minute, c);
    EXPECT_EQ(name.substr(0, 13), minute);

    const Json state = Json::parse(slurp(folder + "/state.json")), shown = status(folder);
    const Json cell = state.at("cells").at(0);
    const std::vector<Json> all = lines(folder + "/records.jsonl");
    ASSERT_EQ(all.size(), 1U);
    const std::vector<Json> own = lines(folder + "/" + cell.at("log").get<std::string>() + ".jsonl");
    for (const Json& start : {state, cell, shown, shown.at("cells").at(0), all[0], own.at(0)}) {
      EXPECT_EQ(start.at("started_at").get<std::string>().substr(0, 16), in_files) << start;
      EXPECT_EQ(start.at("utc_offset"), night.offset) << start;
    }
    EXPECT_EQ(all[0].at("run_id").get<std::string>().substr(0, 13), minute);
  }
  EXPECT_EQ(runs(), folders) << "sorted by name is sorted by time";
}

// Case 47: what is on stdout with --json is JSON, whatever else is said and whatever fails.
TEST_F(ReaderCases, JsonIsNotMixedWithMessages) {
  const Arguments talking = with_talking("mkfs.ext4");
  const std::string log = "a \"quoted\" l\xc3\xb6g, {NaN}";
  std::string out;
  int number = 0;
  const std::pair<const char*, int> runs_and_statuses[] = {{"-N 8000", 0}, {"-N 400", 5}, {"-b 3", 1}, {"-m 0", 0}};
  for (const auto& [options, status] : runs_and_statuses) {
    const CommandResult result = run_in(talking, run_arguments(log, {"--json", "--mkfs-options", options}));
    EXPECT_EQ(result.exit_status, status) << result.err;
    EXPECT_EQ(StrictJson::problem(result.out), "") << result.out;
    EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 1);
    // Messages are there, and somewhere else.
    EXPECT_NE(result.err.find("mongo: "), std::string::npos) << options << ": " << result.err;
    EXPECT_EQ(result.err.find("\"run_id\""), std::string::npos) << result.err;
    out += result.out;
    ++number;
    EXPECT_NE(slurp(path("environment")), "") << "mkfs did not say anything: the test tests nothing";
  }
  // As a script collects it: JSON lines, byte for byte those of the file.
  expect_strict_lines(out, static_cast<std::size_t>(number));
  EXPECT_EQ(out, slurp(results() + "/" + log + ".jsonl"));
  // What is no run has no record.
  const CommandResult wrong = run_in(talking, run_arguments(log, {"--json", "--mkfs-options", "-X"}));
  EXPECT_EQ(wrong.exit_status, 2);
  EXPECT_EQ(wrong.out, "");
  EXPECT_NE(wrong.err, "");
}

TEST_F(ReaderCases, JsonOfAMatrixWithABadCell) {
  const Arguments talking = with_talking("mkfs.ext4");
  const std::string file = matrix("matrix: {filesystem: ext4, mkfs_options: ['', '-N 400', '-b 3']}\n");
  const CommandResult result = run_in(talking, {"matrix", file, "--results", results(), "--order", "listed"});
  EXPECT_EQ(result.exit_status, 1) << result.err;
  ASSERT_EQ(runs().size(), 1U);
  const std::string folder = runs()[0];
  const CommandResult shown = run_in(talking, {"status", folder, "--json"});
  EXPECT_EQ(StrictJson::problem(shown.out), "") << shown.out;
  EXPECT_EQ(shown.err, "");
  const Json cells = Json::parse(shown.out).at("cells");
  EXPECT_EQ(cells.at(0).at("status"), "ok");
  EXPECT_EQ(cells.at(1).at("status"), "incomplete");
  EXPECT_EQ(cells.at(2).at("status"), "failed");
  for (const char* name : {"state.json", "cells.json"}) {
    EXPECT_EQ(StrictJson::problem(slurp(folder + "/" + name)), "") << name;
  }
  expect_strict_lines(slurp(folder + "/records.jsonl"), 3);
  const CommandResult devices = run_in(talking, {"devices", "--json"});
  EXPECT_EQ(StrictJson::problem(devices.out), "") << devices.out;
}

class DecimalCommaCases : public ReaderCases {
 protected:
  void SetUp() override {
    ReaderCases::SetUp();
    if (IsSkipped()) return;
    environment_ = {"env", "LC_ALL=de_DE.UTF-8", "LANG=de_DE.UTF-8", "LANGUAGE=de"};
    if (decimal_point() == ",") return;
    // None is installed: one of the test's own.
    test::fs::create_directories(path("locales"));
    run({"localedef", "-i", "de_DE", "-f", "UTF-8", path("locales/de_DE.UTF-8")});
    environment_.push_back("LOCPATH=" + path("locales"));
    if (decimal_point() != ",") GTEST_SKIP() << "needs the locale de_DE.UTF-8, or localedef and its sources";
  }
  std::string decimal_point() const {
    Arguments argv = environment_;
    argv.insert(argv.end(), {"locale", "decimal_point"});
    const std::string out = run(argv).out;
    return out.substr(0, out.find('\n'));
  }
  static void expect_points(const std::string& text) {
    std::smatch comma;
    EXPECT_FALSE(std::regex_search(text, comma, std::regex("[^\n]*[0-9],[0-9][^\n]*"))) << comma.str();
    EXPECT_TRUE(std::regex_search(text, std::regex("[0-9]\\.[0-9]{3}"))) << "no figure: " << text;
  }

  Arguments environment_;
};

// Case 48.
TEST_F(DecimalCommaCases, FilesAndTablesHavePoints) {
  Arguments environment = with_talking("mkfs.ext4");
  environment.insert(environment.end(), environment_.begin() + 1, environment_.end());
  for (const char* log : {"one", "two"}) {
    const CommandResult result = run_in(environment, run_arguments(log, {"--no-latency"}));
    ASSERT_EQ(result.exit_status, 0) << result.err;
    expect_points(result.out);
    for (const char* suffix : {"", ".tbl", "_table"}) expect_points(slurp(results() + "/" + log + suffix));
    expect_strict_lines(slurp(results() + "/" + log + ".jsonl"), 1);
  }
  // What is started speaks English with points.
  const std::string seen = "\n" + slurp(path("environment"));
  EXPECT_NE(seen.find("\nLC_ALL=C\n"), std::string::npos) << seen;
  EXPECT_EQ(seen.find("\nLANGUAGE="), std::string::npos) << seen;
  // Compared in this locale and in none.
  for (const char* option : {"--ratios", "--across-environments"}) {
    const Arguments compare{"compare", option, results() + "/one.jsonl", results() + "/two.jsonl"};
    const CommandResult here = run_in(environment, compare), there = run_in({"env", "LC_ALL=C"}, compare);
    EXPECT_EQ(here.exit_status, 0) << here.err;
    EXPECT_EQ(here.out, there.out);
    expect_points(here.out);
  }
}

TEST_F(DecimalCommaCases, MatricesHavePoints) {
  const std::string file = matrix("matrix: {filesystem: ext4, bytes_per_tree: 1.5M}\n");
  const CommandResult result = run_in(environment_, {"matrix", file, "--results", results()});
  ASSERT_EQ(result.exit_status, 0) << result.err;
  ASSERT_EQ(runs().size(), 1U);
  const std::string folder = runs()[0];
  for (const char* name : {"state.json", "cells.json"}) {
    EXPECT_EQ(StrictJson::problem(slurp(folder + "/" + name)), "") << name;
  }
  expect_strict_lines(slurp(folder + "/records.jsonl"), 1);
  const Json cell = Json::parse(slurp(folder + "/state.json")).at("cells").at(0);
  EXPECT_GT(cell.at("seconds").get<double>(), 0);
  expect_points(slurp(folder + "/" + cell.at("log").get<std::string>() + ".tbl"));
  const CommandResult dry = run_in(environment_, {"matrix", file, "--results", results(), "--dry-run"});
  EXPECT_NE(dry.out.find("3.1 MiB"), std::string::npos) << dry.out;
}

TEST_F(DecimalCommaCases, ACommaInAResultIsAnErrorWithItsPlace) {
  ASSERT_EQ(run_in(environment_, run_arguments("log", {})).exit_status, 0);
  const std::string good = slurp(results() + "/log.jsonl");
  const std::size_t at = good.find("\"seconds\":", good.find("\"phases\"")) + 10;
  const auto compare = [&](const std::string& number) {
    // Behind a good run, which must not be taken instead.
    std::ofstream(path("comma.jsonl")) << good << std::string(good).replace(at, good.find(',', at) - at, number);
    return run_in(environment_, {"compare", path("comma.jsonl")});
  };
  EXPECT_EQ(compare("2.88").exit_status, 0);
  EXPECT_NE(compare("2.88").out.find("2.880"), std::string::npos) << compare("2.88").out;
  CommandResult result = compare("2,88");
  EXPECT_EQ(result.exit_status, 2) << result.out;
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find(path("comma.jsonl") + ":2:" + std::to_string(at + 4) + ": this line is no JSON"),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("Decimal numbers have a point, not a comma"), std::string::npos) << result.err;
  result = compare("\"2,88\"");
  EXPECT_EQ(result.exit_status, 2) << result.out;
  EXPECT_NE(result.err.find(":2: /passes/0/phases/0/seconds: must be a number"), std::string::npos) << result.err;
  // The table for people is no input, with a comma or without.
  std::ofstream(path("log_table")) << "Create\tCopy\n2,88\t1,05\n";
  result = run_in(environment_, {"compare", path("log_table")});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_NE(result.err.find(path("log_table") + " holds no record of a run"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace mongo
