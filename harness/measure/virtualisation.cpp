#include "harness/measure/virtualisation.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#include <unistd.h>

#include <array>
#include <cstring>
#include <optional>
#include <sstream>
#include <utility>

#include "harness/core/quote.h"
#include "harness/measure/text_file.h"

// Where to look, in what order, and the names: src/basic/virt.c of systemd.

namespace mongo {
namespace {

using measure::line_of;
using measure::read_text;

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

/// A name, or "" and whether that means that there is none.
struct Finding {
  std::string name;
  bool sure = false;
};

std::optional<std::string> variable(const std::string& environment, const std::string& name) {
  std::istringstream entries(environment);
  for (std::string entry; std::getline(entries, entry, '\0');) {
    if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
  }
  return std::nullopt;
}

Finding find_container(const std::string& root) {
  if (exists(root + "/proc/vz") && !exists(root + "/proc/bc")) return {"openvz"};
  const std::string release = line_of(root + "/proc/sys/kernel/osrelease");
  if (release.find("Microsoft") != std::string::npos || release.find("WSL") != std::string::npos) return {"wsl"};
  std::string name = line_of(root + "/run/systemd/container");
  if (name.empty()) name = line_of(root + "/run/host/container-manager");
  const std::optional<std::string> environment = read_text(root + "/proc/1/environ");
  if (name.empty()) name = variable(environment.value_or(""), "container").value_or("");
  // "oci" stands for any of them.
  if (!name.empty() && name != "oci") return {printable(name)};
  if (exists(root + "/run/.containerenv")) return {"podman"};
  if (exists(root + "/.dockerenv")) return {"docker"};
  if (!name.empty()) return {name};
  // PROC_PID_INIT_INO: the number of the pid namespace that a machine begins with. Source: linux/nsfs.h.
  std::array<char, 64> text{};
  const ssize_t length = readlink((root + "/proc/self/ns/pid").c_str(), text.data(), text.size());
  if (length <= 0) return {};
  if (std::string(text.data(), static_cast<std::size_t>(length)) != "pid:[4026531836]") return {"container"};
  return {"", environment.has_value()};
}

using Names = std::pair<const char*, const char*>;

std::string by_prefix(const std::string& text) {
  constexpr std::array<Names, 19> makers{{{"KVM", "kvm"},
                                          {"OpenStack", "kvm"},
                                          {"KubeVirt", "kvm"},
                                          {"Amazon EC2", "amazon"},
                                          {"QEMU", "qemu"},
                                          {"VMware", "vmware"},
                                          {"VMW", "vmware"},
                                          {"innotek GmbH", "oracle"},
                                          {"VirtualBox", "oracle"},
                                          {"Oracle Corporation", "oracle"},
                                          {"Xen", "xen"},
                                          {"Bochs", "bochs"},
                                          {"Parallels", "parallels"},
                                          {"BHYVE", "bhyve"},
                                          {"Hyper-V", "microsoft"},
                                          {"Apple Virtualization", "apple"},
                                          {"Google Compute Engine", "google"},
                                          {"Virtual Machine", "microsoft"},
                                          {"HVM domU", "xen"}}};
  for (const auto& [prefix, name] : makers) {
    if (text.starts_with(prefix)) return name;
  }
  return {};
}

std::string by_firmware(const std::string& root) {
  for (const char* file : {"product_name", "sys_vendor", "board_vendor", "bios_vendor"}) {
    const std::string text = line_of(root + "/sys/class/dmi/id/" + file);
    // Oracle makes servers too.
    if (text == "Oracle Corporation" && std::strcmp(file, "board_vendor") != 0) continue;
    if (std::string name = by_prefix(text); !name.empty()) return name;
  }
  return {};
}

/// Leaf 0x40000000, which processors without a hypervisor do not have: to be asked only when they say that they have
/// one.
std::string by_processor() {
#if defined(__x86_64__) || defined(__i386__)
  constexpr std::array<Names, 14> signatures{{{"KVMKVMKVM", "kvm"},
                                              {"Linux KVM Hv", "kvm"},
                                              {"TCGTCGTCGTCG", "qemu"},
                                              {"XenVMMXenVMM", "xen"},
                                              {"VMwareVMware", "vmware"},
                                              {"Microsoft Hv", "microsoft"},
                                              {"bhyve bhyve ", "bhyve"},
                                              {"QNXQVMBSQG", "qnx"},
                                              {"ACRNACRNACRN", "acrn"},
                                              {"SRESRESRESRE", "sre"},
                                              {"Apple VZ", "apple"},
                                              {" lrpepyh  vr", "parallels"},
                                              {"VBoxVBoxVBox", "oracle"},
                                              {"NVMMNVMMNVMM", "nvmm"}}};
  unsigned leaf = 0;
  std::array<unsigned, 3> words{};
  __cpuid(0x40000000U, leaf, words[0], words[1], words[2]);
  std::array<char, 13> text{};
  std::memcpy(text.data(), words.data(), sizeof words);
  for (const auto& [signature, name] : signatures) {
    if (std::strcmp(text.data(), signature) == 0) return name;
  }
#endif
  return {};
}

/// Of machines that are described by a device tree, such as ARM boards.
std::string by_device_tree(const std::string& root) {
  const std::string folder = root + "/proc/device-tree";
  const std::string hypervisor = read_text(folder + "/hypervisor/compatible").value_or("");
  if (hypervisor.find("linux,kvm") != std::string::npos) return "kvm";
  if (hypervisor.find("xen") != std::string::npos) return "xen";
  if (hypervisor.find("vmware") != std::string::npos) return "vmware";
  if (!hypervisor.empty()) return "unknown hypervisor";
  const std::string machine = read_text(folder + "/compatible").value_or("");
  if (machine.find("linux,dummy-virt") != std::string::npos || exists(folder + "/fw-cfg")) return "qemu";
  return {};
}

Finding find_machine(const std::string& root) {
  // Only x86 has "flags", and there a machine without the flag "hypervisor" is none that says so of itself.
  std::istringstream cpus(read_text(root + "/proc/cpuinfo").value_or(""));
  bool x86 = false, flag = false;
  for (std::string line; !x86 && std::getline(cpus, line);) {
    if (line.starts_with("vendor_id") && line.find("User Mode Linux") != std::string::npos) return {"uml"};
    x86 = line.starts_with("flags");
    flag = x86 && (line + " ").find(" hypervisor ") != std::string::npos;
  }
  const std::string firmware = by_firmware(root);
  if (x86 && !flag && (firmware == "amazon" || firmware == "google")) return {"", true};  // they rent out metal too
  // What runs on KVM or Hyper-V under a name of its own.
  for (const char* product : {"oracle", "xen", "amazon", "google", "parallels"}) {
    if (firmware == product) return {firmware};
  }
  if (flag && root == "/") {
    if (const std::string name = by_processor(); !name.empty()) return {name};
  }
  if (!firmware.empty()) return {firmware};
  if (const std::string type = line_of(root + "/sys/hypervisor/type"); !type.empty()) return {printable(type)};
  if (const std::string name = by_device_tree(root); !name.empty()) return {name};
  if (flag) return {"unknown hypervisor"};
  return {"", x86};
}

}  // namespace

std::string detect_virtualisation(const std::string& root) {
  const Finding container = find_container(root), machine = find_machine(root);
  if (container.name.empty() && machine.name.empty()) return container.sure && machine.sure ? "none" : "";
  return container.name + (container.name.empty() || machine.name.empty() ? "" : ",") + machine.name;
}

}  // namespace mongo
