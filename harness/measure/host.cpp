#include "harness/measure/host.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <ctime>
#include <random>

#include "harness/measure/environment.h"

namespace mongo {
namespace {

std::string in_utc(std::time_t time, const char* format) {
  std::tm broken_down{};
  gmtime_r(&time, &broken_down);
  char text[40];
  return std::string(text, std::strftime(text, sizeof text, format, &broken_down));
}

}  // namespace

HostRecord describe_host(const std::string& root) {
  HostRecord host;
  utsname names{};
  if (uname(&names) == 0) {
    host.name = names.nodename;
    host.kernel = fmt::format("{} {}", names.sysname, names.release);
    host.machine = names.machine;
  }
  describe_environment(host, root);
  return host;
}

std::string utc_text(std::time_t time) { return in_utc(time, "%Y-%m-%dT%H:%M:%SZ"); }

std::string utc_now() { return utc_text(std::time(nullptr)); }

std::string utc_offset(std::time_t time) {
  tzset();  // localtime_r(3) need not read TZ
  std::tm local{};
  if (localtime_r(&time, &local) == nullptr) return "";
  const long minutes = std::labs(local.tm_gmtoff) / 60;
  return fmt::format("{}{:02}:{:02}", local.tm_gmtoff < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

std::string make_run_id(std::time_t time) {
  std::random_device source;
  return fmt::format("{}-{:06x}", in_utc(time, "%Y%m%dT%H%M%SZ"), source() & 0xffffffU);
}

}  // namespace mongo
