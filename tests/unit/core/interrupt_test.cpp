#include "harness/core/interrupt.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <csignal>

#include "harness/core/errors.h"

namespace mongo {
namespace {

TEST(InterruptWatch, KeepsTheFirstSignalAndWakesPoll) {
  InterruptWatch watch;
  EXPECT_NO_THROW(watch.check());
  pollfd polled{watch.descriptor(), POLLIN, 0};
  EXPECT_EQ(poll(&polled, 1, 0), 0);
  std::raise(SIGTERM);
  std::raise(SIGINT);
  EXPECT_EQ(poll(&polled, 1, 0), 1);
  EXPECT_EQ(watch.signal_number(), SIGTERM);
  try {
    watch.check();
    FAIL();
  } catch (const Interrupted& interrupted) {
    EXPECT_STREQ(interrupted.what(), "interrupted by SIGTERM");
  }
}

TEST(InterruptWatch, LeavesAnIgnoredSignalIgnored) {
  std::signal(SIGHUP, SIG_IGN);  // as nohup does
  {
    InterruptWatch watch;
    std::raise(SIGHUP);
    EXPECT_EQ(watch.signal_number(), 0);
  }
  std::signal(SIGHUP, SIG_DFL);
}

TEST(Errors, NameErrnoValues) {
  EXPECT_EQ(errno_text(28), "No space left on device (ENOSPC)");
  EXPECT_EQ(errno_name(4711), "errno 4711");
}

}  // namespace
}  // namespace mongo
