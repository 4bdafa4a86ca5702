// Names and times of runs. Case 44: the night on which the clock goes back, and zones that are not whole hours off.
#include "harness/measure/host.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <random>
#include <set>

#include "tests/support/comma_locale.h"
#include "tests/unit/run/made_up_root.h"

namespace mongo {
namespace {

std::time_t utc(int year, int month, int day, int hour, int minute, int second = 0) {
  std::tm time{};
  time.tm_year = year - 1900;
  time.tm_mon = month - 1;
  time.tm_mday = day;
  time.tm_hour = hour;
  time.tm_min = minute;
  time.tm_sec = second;
  return timegm(&time);
}

class RunNames : public testing::Test {
 protected:
  void SetUp() override {
    if (access("/usr/share/zoneinfo/Europe/Berlin", R_OK) != 0) GTEST_SKIP() << "needs tzdata";
  }
  void TearDown() override {
    unsetenv("TZ");
    tzset();
  }
  static void in_zone(const char* zone) {
    setenv("TZ", zone, 1);
    tzset();
  }
  /// "02:30"
  static std::string local_clock(std::time_t time) {
    std::tm local{};
    localtime_r(&time, &local);
    char text[10];
    return std::string(text, std::strftime(text, sizeof text, "%H:%M", &local));
  }

  const std::time_t first_ = utc(2026, 10, 25, 0, 30), second_ = utc(2026, 10, 25, 1, 30);
};

TEST_F(RunNames, HalfPastTwoComesTwiceAndTheNamesAreInOrder) {
  in_zone("Europe/Berlin");
  EXPECT_EQ(local_clock(first_), "02:30");
  EXPECT_EQ(local_clock(second_), "02:30");
  const std::string first = make_run_id(first_), second = make_run_id(second_);
  EXPECT_EQ(first.substr(0, 17), "20261025T003000Z-");
  EXPECT_EQ(second.substr(0, 17), "20261025T013000Z-");
  EXPECT_LT(first, second);
  EXPECT_EQ(utc_text(first_), "2026-10-25T00:30:00Z");
  EXPECT_EQ(utc_text(second_), "2026-10-25T01:30:00Z");
  // Only this tells the two apart for who thinks in local time.
  EXPECT_EQ(utc_offset(first_), "+02:00");
  EXPECT_EQ(utc_offset(second_), "+01:00");
}

TEST_F(RunNames, OffsetsOfOtherZones) {
  const std::pair<const char*, const char*> zones[] = {{"Asia/Kolkata", "+05:30"},     {"Asia/Kathmandu", "+05:45"},
                                                       {"America/St_Johns", "-02:30"}, {"Pacific/Marquesas", "-09:30"},
                                                       {"Pacific/Apia", "+13:00"},     {"UTC", "+00:00"},
                                                       {"XYZ12:34", "-12:34"},         {"America/New_York", "-04:00"}};
  for (const auto& [zone, offset] : zones) {
    in_zone(zone);
    EXPECT_EQ(utc_offset(first_), offset) << zone;
    EXPECT_EQ(make_run_id(first_).substr(0, 17), "20261025T003000Z-") << zone;
    EXPECT_EQ(utc_text(first_), "2026-10-25T00:30:00Z") << zone;
  }
}

TEST_F(RunNames, SortedByNameIsSortedByTime) {
  in_zone("Europe/Berlin");
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    // Often close together, and around the hour that comes twice.
    const std::time_t a = second_ - 7200 + static_cast<std::time_t>(random() % 14400);
    const unsigned most[] = {5, 3600, 400'000'000};
    const std::time_t b = a + 1 + static_cast<std::time_t>(random() % most[i % 3]);
    EXPECT_LT(make_run_id(a), make_run_id(b));
  }
}

TEST_F(RunNames, AreUniqueAndFitForEveryFileSystem) {
  std::set<std::string> names;
  for (int i = 0; i < 100; ++i) {
    const std::string name = make_run_id(first_);
    EXPECT_EQ(name.size(), 23U);
    EXPECT_EQ(name.find_first_not_of("0123456789abcdefTZ-"), std::string::npos) << name;
    names.insert(name);
  }
  EXPECT_GE(names.size(), 99U);  // of 2^24: two may be the same once in 3000 times
}

// Case 48.
TEST(Host, IsReadTheSameWithADecimalComma) {
  const testing_support::MadeUpRoot root;
  root.write("proc/loadavg", "2.31 1.00 0.50 1/123 4567\n");
  root.write("proc/meminfo", "MemTotal:       24618172 kB\n");
  const HostRecord before = describe_host(root.path());
  const test::CommaLocale comma;
  const HostRecord after = describe_host(root.path());
  EXPECT_EQ(after.load, 2.31);
  EXPECT_EQ(after.memory_bytes, 24618172U * 1024ULL);
  EXPECT_EQ(after.memory_bytes, before.memory_bytes);
}

}  // namespace
}  // namespace mongo
