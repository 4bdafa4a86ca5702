#include "phases/support/walk.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <set>
#include <string>

#include "support.h"

namespace mongo::phases {
namespace {

using testing::Outcome;
using testing::run_phase;
using testing::Scratch;
using testing::text;

/// Uses a walk of the scratch directory in a child. What the check returns is counted as one file when it is true.
Outcome with_walk(const Scratch& scratch, const std::function<bool(Walk&)>& check) {
  return testing::run_in_child([&](Counters& counters) {
    const rlimit few{64, 64};
    setrlimit(RLIMIT_NOFILE, &few);
    Context context;
    context.mount_fd = scratch.fd();
    context.mount_path = scratch.path();
    context.counters = &counters;
    Walk walk(context);
    counters.files = check(walk) ? 1 : 0;
  });
}

/// A walk that records what it does.
struct Recorder : WalkVisitor {
  explicit Recorder(Walk& w) : walk(w) {}
  Walk& walk;
  std::uint64_t seen = 0;
  std::uint64_t entered = 0;
  std::uint64_t left = 0;
  bool places_right = true;

  bool regular(const char* name) {
    ++seen;
    // The file's name says in which directory it was made.
    const std::string expected = std::string("f-in-") + (*walk.path().relative() == '\0' ? "" : walk.path().name());
    places_right = places_right && std::string(name).starts_with(expected) && access(name, F_OK) == 0;
    return true;
  }
  bool enter(const char*) {
    ++entered;
    return true;
  }
  After leave(const char* name, bool) {
    ++left;
    places_right = places_right && access(name, F_OK) == 0;
    return After::go_on;
  }
};

/// Directories 40 levels deep, with files met before and after the descent: what was closed on the way down must be
/// continued where it was left.
TEST(Walk, ContinuesWhatItHadToClose) {
  const Scratch scratch;
  std::string directory = scratch / "top";
  mkdir(directory.c_str(), 0755);
  std::uint64_t files = 0;
  for (int level = 0; level < 40; ++level) {
    const std::string name = level == 0 ? "top" : "d" + std::to_string(level);
    for (int i = 0; i < 50; ++i, ++files) {
      testing::make_file(directory + "/f-in-" + name + "-" + std::to_string(i), "");
    }
    for (int i = 0; i < 3; ++i) {
      mkdir((directory + "/empty" + std::to_string(i)).c_str(), 0755);
    }
    directory += "/d" + std::to_string(level + 1);
    mkdir(directory.c_str(), 0755);
  }
  const Outcome outcome = with_walk(scratch, [&](Walk& walk) {
    bool well = true;
    for (int round = 0; round < 2; ++round) {
      Recorder whole(walk);
      walk.whole_file_system(whole);
      Recorder tree(walk);
      walk.tree("top", tree);
      for (const Recorder* r : {&whole, &tree}) {
        well = well && r->seen == files && r->entered == 161 && r->left == 161 && r->places_right;
      }
    }
    return well;
  });
  EXPECT_EQ(text(outcome), "1 files, 0 bytes");
}

/// Removes only some of what it meets, as if the others had not been shown.
struct Forgetful : WalkVisitor {
  explicit Forgetful(Walk& w) : walk(w) {}
  Walk& walk;
  int one_of = 0;  // one of so many entries is removed; 0: none
  std::uint64_t seen = 0;
  std::uint64_t failed = 0;

  bool regular(const char* name) {
    ++seen;
    return one_of == 0 || seen % static_cast<std::uint64_t>(one_of) != 0 || walk.operations().unlink(name);
  }
  After leave(const char* name, bool may_repeat) {
    switch (walk.operations().rmdir(name, may_repeat)) {
      case Operations::Removal::done:
        return After::go_on;
      case Operations::Removal::not_empty:
        return After::again;
      case Operations::Removal::failed:
        break;
    }
    ++failed;
    return After::failed;
  }
};

void make_files(const std::string& directory, int count) {
  mkdir(directory.c_str(), 0755);
  for (int i = 0; i < count; ++i) {
    testing::make_file(directory + "/" + std::to_string(i), "");
  }
}

TEST(Walk, GoesThroughADirectoryAgainUntilItIsEmpty) {
  const Scratch scratch;
  make_files(scratch / "top", 30);
  make_files(scratch / "top/below", 50);
  const Outcome outcome = with_walk(scratch, [&](Walk& walk) {
    Forgetful visitor(walk);
    visitor.one_of = 2;
    walk.tree("top", visitor);
    return visitor.failed == 0 && visitor.seen > 80;
  });
  EXPECT_EQ(text(outcome), "1 files, 0 bytes");
  EXPECT_EQ(testing::output_of("ls -A " + scratch.path()), "");
}

TEST(Walk, GoesThroughADirectoryAgainABoundedNumberOfTimes) {
  const Scratch scratch;
  make_files(scratch / "top", 3);
  make_files(scratch / "top/below", 5);
  const Outcome outcome = with_walk(scratch, [&](Walk& walk) {
    Forgetful visitor(walk);
    walk.tree("top", visitor);
    // What failed below is no reason to try again above.
    return visitor.failed == 2 && visitor.seen == 3 + 5 * (1 + Walk::most_repeats);
  });
  EXPECT_EQ(text(outcome), "1 files, 0 bytes; rmdir ENOTEMPTY x2 top/below");
}

/// Entries come into being and are renamed beside the one that is visited; those that were there are all visited once.
TEST(Walk, StandsChangesOfTheDirectoryItReads) {
  const Scratch scratch;
  make_files(scratch / "top", 5000);
  const Outcome outcome = with_walk(scratch, [&](Walk& walk) {
    struct Changer : WalkVisitor {
      explicit Changer(Walk& w) : walk(w) {}
      Walk& walk;
      std::set<std::string> seen;
      bool once = true;
      bool regular(const char* name) {
        const std::string old = name;
        if (!old.ends_with(".x")) {
          once = seen.insert(old).second && once;
          walk.operations().symlink("nowhere", (old + ".link").c_str());
          walk.operations().mkdir((old + ".d").c_str());
          walk.operations().rename(name, (old + ".x").c_str());
        }
        return true;
      }
    } changer(walk);
    walk.tree("top", changer);
    return changer.once && changer.seen.size() == 5000;
  });
  EXPECT_EQ(text(outcome), "1 files, 0 bytes");
}

TEST(Walk, PassesOverTheFileSystemsOwnFilesInTheRootOnly) {
  const Scratch scratch;
  testing::make_file(scratch / ".own", "1");
  testing::make_file(scratch / ".owner", "2");
  ASSERT_EQ(mkdir((scratch / "d").c_str(), 0755), 0);
  testing::make_file(scratch / "d/.own", "3");
  const auto seen = [&](const std::vector<std::string>& own_files) {
    return testing::run_in_child([&](Counters& counters) {
      Context context;
      context.mount_fd = scratch.fd();
      context.own_files = own_files;
      context.counters = &counters;
      Walk walk(context);
      struct : WalkVisitor {
        std::uint64_t files = 0;
        bool regular(const char*) {
          ++files;
          return true;
        }
      } visitor;
      walk.whole_file_system(visitor);
      counters.files = visitor.files;
    });
  };
  EXPECT_EQ(text(seen({})), "3 files, 0 bytes");
  EXPECT_EQ(text(seen({".own"})), "2 files, 0 bytes");
}

TEST(Walk, DoesNotFollowLinks) {
  const Scratch outside;
  testing::make_file(outside / "1", "x");
  const Scratch scratch;
  ASSERT_EQ(symlink(outside.path().c_str(), (scratch / "link").c_str()), 0);
  ASSERT_EQ(symlink((outside / "1").c_str(), (scratch / "1").c_str()), 0);
  EXPECT_EQ(text(run_phase("stat", scratch, {})), "0 files, 0 bytes");
  ASSERT_EQ(symlink(outside.path().c_str(), (scratch / "testdir1-1-1").c_str()), 0);
  EXPECT_EQ(text(run_phase("delete", scratch, {})), "0 files, 0 bytes; open ENOTDIR x1 testdir1-1-1");
  EXPECT_EQ(testing::file_bytes(outside / "1"), "x");
}

}  // namespace
}  // namespace mongo::phases
