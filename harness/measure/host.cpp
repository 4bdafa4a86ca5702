#include "harness/measure/host.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <ctime>
#include <random>

#include "harness/measure/environment.h"

namespace mongo {
namespace {

std::string utc(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm broken_down{};
  gmtime_r(&now, &broken_down);
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

std::string utc_now() { return utc("%Y-%m-%dT%H:%M:%SZ"); }

std::string make_run_id() {
  std::random_device source;
  return fmt::format("{}-{:06x}", utc("%Y%m%dT%H%M%SZ"), source() & 0xffffffU);
}

}  // namespace mongo
