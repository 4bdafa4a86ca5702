// What a run is asked to do about caches, syncs, contents and time.
#include <gtest/gtest.h>

#include "harness/plan/cell.h"
#include "tests/unit/plan/run_request.h"

namespace mongo {
namespace {

RunRequest request() { return run_request("ext4", "loop:1GiB", "log", "2"); }

std::string with_cache(const std::string& text) {
  RunRequest some = request();
  some.cache = text;
  return refusal(some);
}

TEST(Conditions, TheDefaultsAreThoseOfTheOriginal) {
  const Cell cell = resolve(request());
  for (const phases::Phase* phase : cell.phases) EXPECT_EQ(policy_of(cell.cache, phase->name), CachePolicy::warm);
  EXPECT_EQ(cell.sync, SyncPolicy::phase);
  EXPECT_EQ(phases::content_name(cell.content), "random");
  EXPECT_FALSE(cell.verify);
  EXPECT_FALSE(cell.phase_timeout_seconds);
  EXPECT_EQ(cell.sector_size, 512U);
  EXPECT_FALSE(cell.sparse);
}

TEST(Conditions, CachePoliciesForAllPhasesOrForSome) {
  RunRequest some = request();
  some.cache = "drop";
  Cell cell = resolve(some);
  for (const phases::Phase* phase : cell.phases) EXPECT_EQ(policy_of(cell.cache, phase->name), CachePolicy::drop);
  some.cache = "drop,read=remount,stat=warm";
  cell = resolve(some);
  EXPECT_EQ(policy_of(cell.cache, "create"), CachePolicy::drop);
  EXPECT_EQ(policy_of(cell.cache, "read"), CachePolicy::remount);
  EXPECT_EQ(policy_of(cell.cache, "stat"), CachePolicy::warm);
  EXPECT_NE(with_cache("dorp").find("did you mean drop?"), std::string::npos) << with_cache("dorp");
  EXPECT_NE(with_cache("cold").find("warm, drop, remount"), std::string::npos);
  EXPECT_NE(with_cache("").find("no policy"), std::string::npos);
  EXPECT_NE(with_cache("drop,").find("no policy"), std::string::npos);
  EXPECT_NE(with_cache("raed=drop").find("did you mean read?"), std::string::npos);
  EXPECT_NE(with_cache("read=").find("no policy"), std::string::npos);
  EXPECT_NE(with_cache("=drop").find("no phase"), std::string::npos);
  some.cache = "read=drop";
  some.phases = "create";
  EXPECT_NE(refusal(some).find("no phase of this run"), std::string::npos);
}

TEST(Conditions, SyncAndContentAreKnownNames) {
  RunRequest some = request();
  some.sync = "each";
  some.content = "compressible:50";
  EXPECT_EQ(resolve(some).sync, SyncPolicy::each);
  EXPECT_EQ(phases::content_name(resolve(some).content), "compressible:50");
  some.sync = "phsae";
  EXPECT_NE(refusal(some).find("did you mean phase?"), std::string::npos) << refusal(some);
  some.sync = "none";
  for (const char* content : {"", "zeros", "compressible", "compressible:", "compressible:0", "compressible:100",
                              "compressible:050", "compressible:5%", "compressible:-1", "random:1"}) {
    some.content = content;
    EXPECT_NE(refusal(some).find("--content '" + std::string(content) + "'"), std::string::npos) << content;
  }
}

TEST(Conditions, WhatDoesNotFitTheDeviceIsRefused) {
  RunRequest some = request();
  some.sector_size = "4096";
  EXPECT_EQ(resolve(some).sector_size, 4096U);
  for (const char* size : {"", "0", "511", "8192", "4k", "04096"}) {
    some.sector_size = size;
    EXPECT_NE(refusal(some).find("512, 1024, 2048, 4096"), std::string::npos) << size;
  }
  some.sector_size = "4096";
  some.device = "/dev/sdb1";
  EXPECT_NE(refusal(some).find("has its own"), std::string::npos);
  some.sector_size.reset();
  some.sparse = true;
  EXPECT_NE(refusal(some).find("--sparse"), std::string::npos);
  some.device = "loop:/images/disk.img";
  EXPECT_NE(refusal(some).find("--sparse"), std::string::npos);
  some.device = "ram:1GiB";
  EXPECT_TRUE(resolve(some).sparse);
}

TEST(Conditions, TimeoutsAreWholeSeconds) {
  RunRequest some = request();
  for (const char* text : {"0", "-1", "1.5", "", "604801", "1h"}) {
    some.phase_timeout = text;
    EXPECT_NE(refusal(some).find("--phase-timeout '" + std::string(text) + "'"), std::string::npos) << text;
  }
  some.phase_timeout = "60";
  EXPECT_EQ(resolve(some).phase_timeout_seconds, 60);
}

TEST(Conditions, TheWorkingSetIsAllDataOfTheLargestPass) {
  RunRequest some = request();
  const std::uint64_t all = working_set_bytes(resolve(some));
  some.phases = "create,read";
  EXPECT_EQ(working_set_bytes(resolve(some)) * 2, all);
  some.repetitions = "1";
  EXPECT_EQ(working_set_bytes(resolve(some)) * 6, all);
  EXPECT_GE(working_set_bytes(resolve(some)), 2U * 20 * 1024 * 1024);
}

}  // namespace
}  // namespace mongo
