#include "harness/core/errors.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace mongo {

Interrupted::Interrupted(int signal_number, const std::string& where)
    : std::runtime_error(fmt::format(
          "interrupted by SIG{}{}{}",
          sigabbrev_np(signal_number) != nullptr ? sigabbrev_np(signal_number) : std::to_string(signal_number).c_str(),
          where.empty() ? "" : " in ", where)),
      signal_number_(signal_number) {}

std::string errno_text(int error_number) {
  return fmt::format("{} ({})", strerror(error_number), errno_name(error_number));
}

std::string missing_node_advice(const std::string& module, int error_number) {
  if (error_number == EACCES) return "Run as root";
  if (error_number == EPERM) return "A container must be given the device";
  return fmt::format("Load the module {}; a container must be given the node", module);
}

std::string errno_name(int error_number) {
  const char* name = strerrorname_np(error_number);
  return name != nullptr ? name : fmt::format("errno {}", error_number);
}

}  // namespace mongo
