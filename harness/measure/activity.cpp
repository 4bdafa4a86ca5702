#include "harness/measure/activity.h"

#include <unistd.h>

#include <fstream>
#include <vector>

namespace mongo {

std::optional<DeviceCounters> read_device_counters(const std::string& major_minor, const std::string& root) {
  std::ifstream file(root + "sys/dev/block/" + major_minor + "/stat");
  std::vector<std::uint64_t> fields;
  for (std::uint64_t value = 0; file >> value;) fields.push_back(value);
  // 11 fields since Linux 2.6, with discards since 4.18, with flushes since 5.5.
  if (fields.size() < 11) return std::nullopt;
  DeviceCounters counters;
  counters.read_requests = fields[0];
  counters.read_bytes = fields[2] * 512;
  counters.write_requests = fields[4];
  counters.written_bytes = fields[6] * 512;
  if (fields.size() > 15) counters.flushes = fields[15];
  return counters;
}

DeviceActivity activity_between(const DeviceCounters& before, const DeviceCounters& after) {
  return {after.read_requests - before.read_requests, after.read_bytes - before.read_bytes,
          after.write_requests - before.write_requests, after.written_bytes - before.written_bytes,
          after.flushes - before.flushes};
}

DeviceActivity& operator+=(DeviceActivity& into, const DeviceActivity& more) {
  into.read_requests += more.read_requests;
  into.read_bytes += more.read_bytes;
  into.write_requests += more.write_requests;
  into.written_bytes += more.written_bytes;
  into.flushes += more.flushes;
  return into;
}

std::optional<double> read_busy_seconds(const std::string& root) {
  std::ifstream file(root + "proc/stat");
  std::string name;
  // user nice system idle iowait irq softirq steal; guest times are in user and nice already
  std::uint64_t fields[8] = {};
  if (!(file >> name) || name != "cpu") return std::nullopt;
  for (std::uint64_t& field : fields) {
    if (!(file >> field)) return std::nullopt;
  }
  const std::uint64_t ticks = fields[0] + fields[1] + fields[2] + fields[5] + fields[6] + fields[7];
  return static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace mongo
