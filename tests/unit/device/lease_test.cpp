#include "harness/device/lease.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

namespace mongo {
namespace {

TEST(LeaseStack, UndoesInReverseOrderAndOnlyOnce) {
  std::vector<int> order;
  LeaseStack stack;
  for (int i = 0; i < 4; ++i) stack.add("step", [&order, i] { order.push_back(i); });
  EXPECT_EQ(stack.size(), 4u);
  EXPECT_TRUE(stack.undo_to(2).empty());
  EXPECT_EQ(order, (std::vector<int>{3, 2}));
  EXPECT_TRUE(stack.undo_to(2).empty());
  EXPECT_TRUE(stack.undo_to(7).empty());
  EXPECT_TRUE(stack.undo_all().empty());
  EXPECT_EQ(order, (std::vector<int>{3, 2, 1, 0}));
  EXPECT_EQ(stack.size(), 0u);
}

TEST(LeaseStack, AFailureDoesNotKeepTheOthersFromBeingTried) {
  std::vector<int> order;
  LeaseStack stack;
  stack.add("first", [&] { order.push_back(1); });
  stack.add("second", [] { throw std::runtime_error("busy"); });
  stack.add("third", [] { throw 3; });
  stack.add("fourth", [&] { order.push_back(4); });
  const auto failures = stack.undo_all();
  ASSERT_EQ(failures.size(), 2u);
  EXPECT_NE(failures[0].find("third"), std::string::npos);
  EXPECT_EQ(failures[1], "could not undo \"second\": busy");
  EXPECT_EQ(order, (std::vector<int>{4, 1}));
}

TEST(LeaseStack, TheDestructorUndoesAndPrints) {
  bool undone = false;
  testing::internal::CaptureStderr();
  {
    LeaseStack stack;
    stack.add("good", [&] { undone = true; });
    stack.add("bad", [] { throw std::runtime_error("busy"); });
  }
  EXPECT_TRUE(undone);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("bad"), std::string::npos);
}

TEST(LeaseStack, AForkedChildUndoesNothing) {
  LeaseStack* stack = new LeaseStack;
  stack->add("the parent's", [] { _exit(7); });
  const pid_t child = fork();
  if (child == 0) {
    delete stack;
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  stack->undo_to(1);
  EXPECT_EQ(stack->size(), 1u);
  // Not destroyed: its undo would end this process.
  static LeaseStack* volatile kept;
  kept = stack;
  EXPECT_NE(kept, nullptr);
}

}  // namespace
}  // namespace mongo
