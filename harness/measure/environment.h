#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/record.h"

namespace mongo {

/// Adds to the record what the host is like and what else it does: distribution, processor, memory, virtualisation,
/// clock, frequency governor, load, mitigations. From /proc, /sys and os-release below `root`, which may be made up;
/// the CPUs that may be used and the clock's resolution are always this machine's. What cannot be found out stays
/// empty. Never throws. Sources: proc(5), os-release(5), sched_getaffinity(2), Documentation/admin-guide/cgroup-v2.rst,
/// Documentation/admin-guide/pm/cpufreq.rst.
///
/// The governor is one word ("performance"), or several, comma-separated, when CPUs differ. Where the driver decides by
/// a preference of its own, that stands behind it: "powersave (intel_pstate, balance_performance)".
void describe_environment(HostRecord& host, const std::string& root = "/");

/// What may disturb a run on this host, and what to do about it; one text each. working_set_bytes: of file data that
/// the phases read with warm caches, 0 when there is none.
std::vector<std::string> host_warnings(const HostRecord& host, std::uint64_t working_set_bytes);

}  // namespace mongo
