#include "harness/measure/environment.h"

#include <gtest/gtest.h>

#include "harness/measure/host.h"
#include "tests/unit/run/made_up_root.h"

namespace mongo {
namespace {

constexpr std::uint64_t GiB = 1ULL << 30;

class Environment : public testing::Test {
 protected:
  HostRecord now() const {
    HostRecord host;
    describe_environment(host, root.path());
    return host;
  }
  void governor(int cpu, const std::string& name, const std::string& driver, const std::string& preference = "") const {
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/";
    root.write(folder + "scaling_governor", name + "\n");
    root.write(folder + "scaling_driver", driver + "\n");
    if (!preference.empty()) root.write(folder + "energy_performance_preference", preference + "\n");
  }
  testing_support::MadeUpRoot root;
};

TEST_F(Environment, NothingThereIsNothingKnown) {
  const HostRecord host = now();
  EXPECT_EQ(host.distribution + host.cpu_model + host.virtualisation + host.clock_source + host.governor, "");
  EXPECT_FALSE(host.memory_bytes.has_value());
  EXPECT_FALSE(host.load.has_value());
  EXPECT_TRUE(host.mitigations.empty());
  EXPECT_GE(host.cpus.value(), 1U);
  EXPECT_GE(host.clock_resolution_ns.value(), 1U);
}

TEST_F(Environment, FoldersInPlaceOfFilesAreNoError) {
  for (const char* file : {"etc/os-release", "proc/cpuinfo", "proc/meminfo", "proc/loadavg", "proc/self/cgroup"}) {
    root.write(std::string(file) + "/x", "");
  }
  const HostRecord host = now();
  EXPECT_EQ(host.distribution + host.cpu_model, "");
  EXPECT_FALSE(host.memory_bytes.has_value());
}

TEST_F(Environment, Distribution) {
  root.write("usr/lib/os-release", "NAME=Other\nVERSION_ID='3.1'\n");
  EXPECT_EQ(now().distribution, "Other 3.1");
  root.write("etc/os-release",
             "NAME=\"Debian GNU/Linux\"\n# PRETTY_NAME=no\nPRETTY_NAME=\"Debian \\\"GNU\\\"/Linux 12\"\n");
  EXPECT_EQ(now().distribution, "Debian \"GNU\"/Linux 12");
  root.write("etc/os-release", "PRETTY_NAME='a\\b'\n");
  EXPECT_EQ(now().distribution, "a\\b");
  root.write("etc/os-release", "PRETTY_NAME=\"bell\a\"");
  EXPECT_EQ(now().distribution, "bell\\x07");
}

TEST_F(Environment, CpuModel) {
  root.write("proc/cpuinfo",
             "processor\t: 0\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\ncpu cores\t: 2\n");
  EXPECT_EQ(now().cpu_model, "AMD EPYC");
  root.write("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0c\n");
  EXPECT_EQ(now().cpu_model, "ARM implementer 0x41 part 0xd0c");
  root.write("proc/cpuinfo", "processor\t: 0\ncpu\t\t: POWER9, altivec supported\n");
  EXPECT_EQ(now().cpu_model, "POWER9, altivec supported");
}

TEST_F(Environment, MemoryIsWhatTheControlGroupAllows) {
  root.write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree:  1 kB\n");
  EXPECT_EQ(now().memory_bytes, 16 * GiB);
  root.write("proc/self/cgroup", "0::/user/run\n");
  root.write("sys/fs/cgroup/user/run/memory.max", "max\n");
  EXPECT_EQ(now().memory_bytes, 16 * GiB);
  root.write("sys/fs/cgroup/user/memory.max", "4294967296\n");
  EXPECT_EQ(now().memory_bytes, 4 * GiB) << "of one above";
  root.write("sys/fs/cgroup/user/run/memory.max", "17179869185\n");
  EXPECT_EQ(now().memory_bytes, 4 * GiB);
  root.write("sys/fs/cgroup/memory.max", "2147483648\n");
  EXPECT_EQ(now().memory_bytes, 2 * GiB) << "of a container that sees its own at the top";
}

TEST_F(Environment, MemoryOfControlGroupsVersion1) {
  root.write("proc/meminfo", "MemTotal:       16777216 kB\n");
  root.write("proc/self/cgroup", "4:memory:/docker/0123\n3:cpuset:/\n0::/\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(now().memory_bytes, 16 * GiB);
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
  EXPECT_EQ(now().memory_bytes, GiB) << "the path is the host's, the folder the container's";
  root.write("proc/self/cgroup", "not a line\n::\n4:cpu,memory:/\n");
  EXPECT_EQ(now().memory_bytes, GiB);
}

TEST_F(Environment, ClockLoadAndMitigations) {
  root.write("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
  root.write("proc/loadavg", "2.31 1.00 0.50 1/123 4567\n");
  const std::string folder = "sys/devices/system/cpu/vulnerabilities/";
  root.write(folder + "spectre_v1", "Mitigation: usercopy/swapgs barriers\n");
  root.write(folder + "meltdown", "Mitigation: PTI\n");
  root.write(folder + "mds", "Not affected\n");
  root.write(folder + "srso", "Vulnerable: no microcode\n");
  const HostRecord host = now();
  EXPECT_EQ(host.clock_source, "tsc");
  EXPECT_DOUBLE_EQ(host.load.value(), 2.31);
  EXPECT_EQ(host.mitigations, (std::vector<std::string>{"meltdown: Mitigation: PTI",
                                                        "spectre_v1: Mitigation: usercopy/swapgs barriers"}));
}

TEST_F(Environment, GovernorsThatDifferAreJoined) {
  governor(0, "performance", "acpi-cpufreq");
  governor(1, "performance", "acpi-cpufreq");
  EXPECT_EQ(now().governor, "performance");
  governor(2, "schedutil", "acpi-cpufreq");
  governor(10, "powersave", "intel_cpufreq");
  root.write("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "userspace\n");
  EXPECT_EQ(now().governor, "performance,schedutil,powersave");
}

TEST_F(Environment, PowersaveOfDriversThatDecideThemselvesSaysSo) {
  governor(0, "powersave", "intel_pstate", "balance_performance");
  EXPECT_EQ(now().governor, "powersave (intel_pstate, balance_performance)");
  governor(0, "powersave", "amd-pstate-epp");
  root.remove("sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference");
  EXPECT_EQ(now().governor, "powersave (amd-pstate-epp)");
  governor(0, "performance", "intel_pstate", "performance");
  EXPECT_EQ(now().governor, "performance");
}

TEST_F(Environment, ThisHost) {
  const HostRecord host = describe_host();
  EXPECT_FALSE(host.name.empty());
  EXPECT_GE(host.cpus.value(), 1U);
  EXPECT_GT(host.memory_bytes.value(), 1U << 20);
  EXPECT_FALSE(host.clock_source.empty());
}

std::vector<std::string> warnings_of(double load, const std::string& governor, std::uint64_t memory,
                                     std::uint64_t files) {
  HostRecord host;
  host.load = load;
  host.governor = governor;
  host.memory_bytes = memory;
  return host_warnings(host, files);
}

TEST(HostWarnings, AQuietHostHasNone) {
  EXPECT_TRUE(host_warnings({}, 0).empty());
  EXPECT_TRUE(host_warnings({}, GiB).empty()) << "what is not known is no reason";
  for (const char* governor :
       {"", "performance", "schedutil", "ondemand", "powersave (intel_pstate)",
        "powersave (intel_pstate, balance_performance)", "powersave (amd-pstate-epp, default)"}) {
    EXPECT_TRUE(warnings_of(0.5, governor, 2 * GiB, GiB).empty()) << governor;
  }
}

TEST(HostWarnings, Load) {
  const auto warnings = warnings_of(2.31, "", 0, 0);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings.front().find("load of 2.3 before the start"), 0U) << warnings.front();
  EXPECT_EQ(warnings_of(0.51, "", 0, 0).size(), 1U);
}

TEST(HostWarnings, GovernorsThatSavePower) {
  for (const char* governor : {"powersave", "performance,powersave", "powersave (intel_pstate, power)",
                               "powersave (intel_pstate),powersave (amd-pstate-epp, balance_power)"}) {
    const auto warnings = warnings_of(0, governor, 0, 0);
    ASSERT_EQ(warnings.size(), 1U) << governor;
    EXPECT_NE(warnings.front().find(governor), std::string::npos) << warnings.front();
  }
}

TEST(HostWarnings, FilesThatFitInMemory) {
  const auto warnings = warnings_of(0, "", 16 * GiB, GiB + GiB / 2);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings.front().find("the files (1.5 GiB) fit in memory (16.0 GiB)"), std::string::npos)
      << warnings.front();
  EXPECT_TRUE(warnings_of(0, "", 16 * GiB, 8 * GiB).empty());
  EXPECT_EQ(warnings_of(0, "", 16 * GiB, 8 * GiB - 1).size(), 1U);
  EXPECT_TRUE(warnings_of(0, "", 16 * GiB, 0).empty()) << "nothing is read";
}

TEST(HostWarnings, AllAtOnce) { EXPECT_EQ(warnings_of(1, "powersave", 16 * GiB, GiB).size(), 3U); }

}  // namespace
}  // namespace mongo
