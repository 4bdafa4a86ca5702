// For tests: loaded before the C library, it lets clocks misbehave. MONGO_TEST_CLOCK names the clock ("realtime" or
// "boottime"), MONGO_TEST_AFTER the number of its readings that are right, MONGO_TEST_STEP the seconds that are added
// to the later ones.
#include <dlfcn.h>
#include <time.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  using Function = int (*)(clockid_t, timespec*);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "clock_gettime"));
  const int result = real(clock, time);
  static const char* const which = std::getenv("MONGO_TEST_CLOCK");
  if (result != 0 || which == nullptr) return result;
  if (clock != (std::strcmp(which, "realtime") == 0 ? CLOCK_REALTIME : CLOCK_BOOTTIME)) return result;
  static std::atomic<long> readings{0};
  static const long right = std::atol(std::getenv("MONGO_TEST_AFTER"));
  if (readings.fetch_add(1) >= right) time->tv_sec += std::atol(std::getenv("MONGO_TEST_STEP"));
  return result;
}

extern "C" time_t time(time_t* result) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (result != nullptr) *result = now.tv_sec;
  return now.tv_sec;
}
