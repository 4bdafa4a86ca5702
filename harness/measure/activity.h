#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/core/record.h"

namespace mongo {

/// What a block device has done since boot. Source: Documentation/ABI/stable/sysfs-block and
/// Documentation/block/stat.rst; a sector there is 512 bytes, whatever the device's own size.
struct DeviceCounters {
  std::uint64_t read_requests = 0, read_bytes = 0;
  std::uint64_t write_requests = 0, written_bytes = 0;
  std::uint64_t flushes = 0;
};

/// Reads ROOT/sys/dev/block/MAJ:MIN/stat. Nothing when it is missing or cannot be understood.
std::optional<DeviceCounters> read_device_counters(const std::string& major_minor, const std::string& root = "/");

/// What happened between two readings.
DeviceActivity activity_between(const DeviceCounters& before, const DeviceCounters& after);
DeviceActivity& operator+=(DeviceActivity& into, const DeviceActivity& more);

/// Seconds that all CPUs of this machine have been busy since boot: user, nice, system, irq, softirq and steal of the
/// first line of /proc/stat, in ticks of 1/sysconf(_SC_CLK_TCK) s. Nothing when it cannot be read. Source: proc(5).
std::optional<double> read_busy_seconds(const std::string& root = "/");

}  // namespace mongo
