#pragma once

#include <string>

namespace mongo {

/// What lies between this process and the hardware, in the words of systemd-detect-virt(1): a container and a virtual
/// machine, comma-separated when it is both ("docker,kvm"), "unknown hypervisor" for a machine that says no more than
/// that it has one, "none" only when both can be ruled out, "" when it cannot be told. With another root than "/" the
/// processor is not asked.
std::string detect_virtualisation(const std::string& root = "/");

}  // namespace mongo
