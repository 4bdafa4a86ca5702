#include "harness/plan/mount_options.h"

#include <gtest/gtest.h>

#include <string>

#include "harness/core/errors.h"

namespace mongo {
namespace {

TEST(MountOptions, WordsThatMeanSomethingElseAreRefusedByName) {
  for (const char* word :
       {"loop", "loop=/dev/loop3", "offset=512", "sizelimit=1M", "bind", "rbind", "move", "remount", "ro",
        "X-mount.mkdir", "X-mount.idmap=u:0:1:1", "x-systemd.automount", "rshared", "helper=x", "logdev=/dev/sdz",
        "journal_path=/dev/sdz", "device=/dev/sdz", "verity.roothash=00", "user"}) {
    try {
      check_mount_options(std::string("noatime,") + word + ",data=ordered");
      ADD_FAILURE() << word;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(std::string("'") + word + "'"), std::string::npos) << error.what();
    }
  }
}

TEST(MountOptions, OthersAreLeftToTheKernel) {
  for (const char* words : {"", "noatime", "rw,noexec,nodev", "barrier=0,noload", "errors=remount-ro", "compress=bogus",
                            "context=\"a:b:c0,ro\"", "bogus=1", "norecovery", "loopy"}) {
    EXPECT_NO_THROW(check_mount_options(words)) << words;
  }
  EXPECT_THROW(check_mount_options("context=\"a,noatime"), UsageError);
}

}  // namespace
}  // namespace mongo
