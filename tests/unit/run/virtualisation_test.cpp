#include "harness/measure/virtualisation.h"

#include <gtest/gtest.h>

#include "tests/unit/run/made_up_root.h"

namespace mongo {
namespace {

class Virtualisation : public testing::Test {
 protected:
  /// A machine of which it is known that it is neither a container nor a virtual machine.
  Virtualisation() {
    flags("fpu vme sse2");
    root.write("proc/1/environ", std::string("HOME=/\0TERM=linux\0", 18));
    root.link("proc/self/ns/pid", "pid:[4026531836]");
    dmi("sys_vendor", "Dell Inc.");
  }
  void flags(const std::string& words) const {
    root.write("proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: " + words + "\nbugs\t\t: x\n");
  }
  void dmi(const std::string& file, const std::string& text) const {
    root.write("sys/class/dmi/id/" + file, text + "\n");
  }
  std::string now() const { return detect_virtualisation(root.path()); }
  testing_support::MadeUpRoot root;
};

TEST_F(Virtualisation, NoneOnlyWhenSure) {
  EXPECT_EQ(now(), "none");
  root.remove("proc/1/environ");
  EXPECT_EQ(now(), "");
  root.write("proc/1/environ", "");
  EXPECT_EQ(now(), "none");
  root.remove("proc/self/ns/pid");
  EXPECT_EQ(now(), "");
  root.link("proc/self/ns/pid", "pid:[4026531836]");
  root.write("proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n");
  EXPECT_EQ(now(), "") << "other processors do not tell";
  root.remove("proc");
  EXPECT_EQ(now(), "");
}

TEST_F(Virtualisation, TheFlagAloneMeansSomeHypervisor) {
  flags("fpu hypervisor sse2");
  EXPECT_EQ(now(), "unknown hypervisor");
  flags("fpu sse2 hypervisor");
  EXPECT_EQ(now(), "unknown hypervisor");
  flags("fpu hypervisors");
  EXPECT_EQ(now(), "none");
}

TEST_F(Virtualisation, ByFirmware) {
  flags("hypervisor");
  const std::pair<const char*, const char*> makers[] = {
      {"QEMU", "qemu"}, {"VMware, Inc.", "vmware"}, {"innotek GmbH", "oracle"},
      {"Xen", "xen"},   {"Amazon EC2", "amazon"},   {"Parallels Software International Inc.", "parallels"}};
  for (const auto& [vendor, name] : makers) {
    dmi("sys_vendor", vendor);
    EXPECT_EQ(now(), name);
  }
  dmi("sys_vendor", "Microsoft Corporation");
  dmi("product_name", "Virtual Machine");
  EXPECT_EQ(now(), "microsoft");
  dmi("product_name", "Google Compute Engine");
  EXPECT_EQ(now(), "google");
  dmi("product_name", "KVM");
  EXPECT_EQ(now(), "kvm");
}

TEST_F(Virtualisation, RentedMetalIsNoVirtualMachine) {
  dmi("sys_vendor", "Amazon EC2");
  EXPECT_EQ(now(), "none");
  dmi("sys_vendor", "Oracle Corporation");
  EXPECT_EQ(now(), "none");
  dmi("sys_vendor", "Microsoft Corporation");
  dmi("product_name", "Surface Laptop");
  EXPECT_EQ(now(), "none");
}

TEST_F(Virtualisation, ByWhatTheKernelSays) {
  root.write("sys/hypervisor/type", "xen\n");
  EXPECT_EQ(now(), "xen");
  root.remove("sys/hypervisor");
  root.write("proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd\n");
  root.write("proc/device-tree/compatible", std::string("linux,dummy-virt\0", 17));
  EXPECT_EQ(now(), "qemu");
  root.write("proc/device-tree/hypervisor/compatible", std::string("linux,kvm\0", 10));
  EXPECT_EQ(now(), "kvm");
  root.write("proc/cpuinfo", "vendor_id\t: User Mode Linux\n");
  EXPECT_EQ(now(), "uml");
}

TEST_F(Virtualisation, Containers) {
  root.link("proc/self/ns/pid", "pid:[4026532201]");
  EXPECT_EQ(now(), "container");
  root.write(".dockerenv", "");
  EXPECT_EQ(now(), "docker");
  root.write("run/.containerenv", "");
  EXPECT_EQ(now(), "podman");
  root.write("proc/1/environ", std::string("HOME=/\0container=oci\0", 21));
  EXPECT_EQ(now(), "podman") << "oci is any of them";
  root.write("proc/1/environ", std::string("notcontainer=x\0container=lxc\0", 29));
  EXPECT_EQ(now(), "lxc");
  root.write("run/systemd/container", "systemd-nspawn\n");
  EXPECT_EQ(now(), "systemd-nspawn");
  root.write("proc/sys/kernel/osrelease", "5.15.90.1-microsoft-standard-WSL2\n");
  EXPECT_EQ(now(), "wsl");
}

TEST_F(Virtualisation, AContainerInAVirtualMachineIsBoth) {
  root.write(".dockerenv", "");
  flags("hypervisor");
  dmi("sys_vendor", "QEMU");
  EXPECT_EQ(now(), "docker,qemu");
}

}  // namespace
}  // namespace mongo
