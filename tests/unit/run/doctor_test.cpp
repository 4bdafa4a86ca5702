#include "harness/run/doctor.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "harness/core/errors.h"

namespace mongo {
namespace {

TEST(Doctor, ADirectoryAloneIsNoFileSystemThatCanBeRun) {
  Diagnosis diagnosis;
  EXPECT_FALSE(diagnosis.can_run());
  diagnosis.filesystems = {{"dir", true, ""}, {"ext4", false, ""}};
  EXPECT_FALSE(diagnosis.can_run());
  diagnosis.filesystems[1].good = true;
  EXPECT_TRUE(diagnosis.can_run());
}

TEST(Doctor, WhatToDoAboutANodeDependsOnTheReason) {
  EXPECT_EQ(missing_node_advice("fuse", EACCES), "Run as root");
  EXPECT_EQ(missing_node_advice("fuse", EPERM), "A container must be given the device");
  EXPECT_EQ(missing_node_advice("fuse", ENOENT), "Load the module fuse; a container must be given the node");
}

}  // namespace
}  // namespace mongo
