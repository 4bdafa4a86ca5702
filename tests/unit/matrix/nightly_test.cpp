#include "harness/matrix/nightly.h"

#include <csignal>

#include "harness/core/errors.h"
#include "harness/matrix/files.h"
#include "harness/matrix/prune.h"
#include "tests/unit/matrix/folder_test.h"

namespace mongo {
namespace {

namespace fs = boost::filesystem;

using namespace std::chrono_literals;

class NightlyTest : public test::FolderTest {
 protected:
  std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const RunFolder& run : runs_below(folder_)) names.push_back(run.name().substr(0, 8));
    return names;
  }
  /// Noon of that day in November 2026.
  static std::time_t noon(int day) {
    std::tm time{};
    time.tm_year = 126;
    time.tm_mon = 10;
    time.tm_mday = day;
    time.tm_hour = 12;
    return timegm(&time);
  }
  void five_nights() {
    for (const char* day : {"20", "21", "22", "23", "24"}) {
      const RunFolder run =
          made_run(std::string("202611") + day + "T041000Z-1a2b3c", {cell("a", 1, CellStatus::ok, 1)});
      for (const std::string& name : result_files("a-r1")) put(run.path + "/" + name, "results\n");
    }
  }
  const std::string current_ = "20261124T041000Z-1a2b3c";
  using Days = std::vector<std::string>;
};

TEST_F(NightlyTest, TheNewestAreKept) {
  five_nights();
  Pruned pruned = prune_runs(folder_, current_, {3, {}}, noon(24));
  EXPECT_EQ(left(), (Days{"20261122", "20261123", "20261124"}));
  EXPECT_EQ(pruned.removed, (Days{"20261120T041000Z-1a2b3c", "20261121T041000Z-1a2b3c"}));
  EXPECT_TRUE(pruned.warnings.empty());
  EXPECT_FALSE(fs::exists(path("20261120T041000Z-1a2b3c")));
  pruned = prune_runs(folder_, current_, {1, {}}, noon(24));
  EXPECT_EQ(left(), (Days{"20261124"}));
}

TEST_F(NightlyTest, ByAge) {
  five_nights();
  prune_runs(folder_, current_, {{}, 2}, noon(24));
  EXPECT_EQ(left(), (Days{"20261123", "20261124"}));
  // The current one never, whatever the clock says.
  prune_runs(folder_, current_, {{}, 1}, noon(24) + 365 * 86400);
  EXPECT_EQ(left(), (Days{"20261124"}));
}

TEST_F(NightlyTest, WithoutALimitAllAreKept) {
  five_nights();
  EXPECT_TRUE(prune_runs(folder_, current_, {}, noon(24)).removed.empty());
  EXPECT_EQ(left().size(), 5U);
}

TEST_F(NightlyTest, NothingOfAnybodyElseIsRemoved) {
  five_nights();
  put(path("20261120T041000Z-1a2b3c/notes.txt"), "mine");
  fs::create_directory(path("20261121T041000Z-1a2b3c/a-r1.tbl.d"));
  fs::create_directory(path("20261119T041000Z-1a2b3c"));  // no cells.json
  put(path("20261119T041000Z-1a2b3c/file"), "mine");
  fs::create_directory(path("other"));
  fs::create_directory_symlink(path("20261123T041000Z-1a2b3c"), path("20261118T041000Z-1a2b3c"));
  const Descriptor lock = take_lock(path("20261122T041000Z-1a2b3c/lock"), 0ms, nullptr);
  const Pruned pruned = prune_runs(folder_, current_, {1, {}}, noon(24));
  EXPECT_EQ(pruned.removed, (Days{"20261123T041000Z-1a2b3c"}));
  ASSERT_EQ(pruned.warnings.size(), 3U);
  EXPECT_NE(pruned.warnings[0].find("it holds notes.txt"), std::string::npos) << pruned.warnings[0];
  EXPECT_NE(pruned.warnings[2].find("a process is at work in it"), std::string::npos) << pruned.warnings[2];
  EXPECT_TRUE(fs::exists(path("20261120T041000Z-1a2b3c/a-r1.jsonl")));
  EXPECT_TRUE(fs::exists(path("20261121T041000Z-1a2b3c/records.jsonl")));
  EXPECT_TRUE(fs::exists(path("20261119T041000Z-1a2b3c/file")));
  EXPECT_TRUE(fs::exists(path("other")));
  EXPECT_TRUE(fs::is_symlink(path("20261118T041000Z-1a2b3c")));
}

TEST_F(NightlyTest, WhatWasBrokenOffIsTakenUp) {
  five_nights();
  for (const char* name : {"records.jsonl", "matrix.yaml", "a-r1"}) fs::remove(path("20261120T041000Z-1a2b3c/") + name);
  EXPECT_EQ(prune_runs(folder_, current_, {4, {}}, noon(24)).removed, (Days{"20261120T041000Z-1a2b3c"}));
}

TEST_F(NightlyTest, WaitsUntilTheMachineIsIdle) {
  const InterruptWatch watch;
  int looks = 0;
  EXPECT_EQ(wait_until_idle(
                60s, watch, [&] { return ++looks < 3 ? 2.0 : 0.4; }, 1ms),
            "");
  EXPECT_EQ(looks, 3);
  EXPECT_NE(wait_until_idle(
                0s, watch, [] { return 2.0; }, 1ms)
                .find("load 2.00"),
            std::string::npos);
  EXPECT_NE(wait_until_idle(
                60s, watch, [] { return std::nullopt; }, 1ms)
                .find("cannot be read"),
            std::string::npos);
}

TEST_F(NightlyTest, ASignalEndsTheWait) {
  InterruptWatch watch;
  EXPECT_THROW(wait_until_idle(
                   60s, watch,
                   [&] {
                     watch.raise(SIGTERM);
                     return 2.0;
                   },
                   60s),
               Interrupted);
}

class HookTest : public NightlyTest {
 protected:
  std::string script(const std::string& text) {
    put(path("hook"), "#!/bin/sh\n" + text);
    fs::permissions(path("hook"), fs::owner_all);
    return path("hook");
  }
  std::string call(const std::string& program, int status) {
    MatrixState state;
    state.cells = {cell("a", 1, CellStatus::ok, 1), cell("a b", 1, CellStatus::failed, 1)};
    RealRunner runner;
    return call_hook(program, RunFolder{path("a run; $(x)")}, state, status, runner);
  }
};

TEST_F(HookTest, IsToldTheOutcome) {
  const std::string program = script(
      "printf '%s|' \"$@\" $MONGO_MATRIX_EXIT_STATUS $MONGO_MATRIX_CELLS $MONGO_MATRIX_OK $MONGO_MATRIX_FAILED "
      "\"$MONGO_MATRIX_DIR\" >" +
      path("told"));
  EXPECT_EQ(call(find_hook(program), 1), "");
  EXPECT_EQ(get(path("told")), path("a run; $(x)") + "|failed|1|2|1|1|" + path("a run; $(x)") + "|");
  EXPECT_EQ(getenv("MONGO_MATRIX_DIR"), nullptr);
  for (const auto& [status, word] : {std::pair(0, "ok"), {5, "incomplete"}, {130, "interrupted"}}) {
    EXPECT_EQ(call(program, status), "");
    EXPECT_NE(get(path("told")).find(std::string("|") + word + "|"), std::string::npos);
  }
}

TEST_F(HookTest, ItsFailureIsAWarning) {
  EXPECT_NE(call(script("echo no mail >&2; exit 3"), 0).find("ended with status 3: no mail"), std::string::npos);
  EXPECT_NE(call(script("kill -9 $$"), 0).find("killed by signal 9"), std::string::npos);
  put(path("hook"), "#!/none/such\n");
  EXPECT_NE(call(path("hook"), 0).find("failed"), std::string::npos);
}

TEST_F(HookTest, IsLookedForBefore) {
  const auto problem = [](const std::string& program) -> std::string {
    try {
      find_hook(program);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(find_hook("true").front(), '/');
  EXPECT_EQ(find_hook(script("exit 0")), path("hook"));
  EXPECT_EQ(problem(path("none")), "--hook: there is no program " + path("none"));
  EXPECT_EQ(problem("no-such-hook"),
            "--hook: there is no program no-such-hook in PATH, /usr/local/sbin, /usr/sbin or /sbin");
  EXPECT_EQ(problem(folder_), "--hook: " + folder_ + " is a directory. Name a program in it");
  EXPECT_EQ(problem("/dev/null"), "--hook: /dev/null is no regular file. Name a program");
  EXPECT_EQ(problem(path("hook/x")), "--hook: " + path("hook/x") + " cannot be looked at: Not a directory (ENOTDIR)");
  put(path("plain"), "#!/bin/sh\n");
  EXPECT_EQ(problem(path("plain")),
            "--hook: " + path("plain") + " is not executable. Make it so: chmod +x " + path("plain"));
  // A shell would run these, the kernel does not.
  for (const char* text : {"", "#", "echo hello\n",
                           "\x7f"
                           "EL",
                           "\n#!/bin/sh\n"}) {
    put(path("plain"), text);
    fs::permissions(path("plain"), fs::owner_all);
    EXPECT_EQ(problem(path("plain")),
              "--hook: " + path("plain") +
                  " is neither a program nor a script that says what runs it. Let its first line be #!/bin/sh, or what "
                  "else it is written for");
  }
}

TEST_F(HookTest, OfThisFolderHasItsWholePath) {
  const fs::path before = fs::current_path();
  script("exit 0");
  fs::create_directory(path("in"));
  fs::current_path(folder_);
  EXPECT_EQ(find_hook("./hook"), path("hook"));
  EXPECT_EQ(find_hook("././hook"), path("hook"));
  EXPECT_EQ(find_hook("in/.././hook"), path("in/../hook"));
  std::string message;
  try {
    find_hook("hook");
  } catch (const UsageError& error) {
    message = error.what();
  }
  EXPECT_NE(message.find(". For the file in this folder give ./hook"), std::string::npos) << message;
  fs::current_path(before);
}

}  // namespace
}  // namespace mongo
