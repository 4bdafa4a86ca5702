#include "harness/core/errors.h"

#include <fmt/format.h>

#include <cstring>

namespace mongo {

Interrupted::Interrupted(int signal_number)
    : std::runtime_error(fmt::format("interrupted by SIG{}", sigabbrev_np(signal_number) != nullptr
                                                                 ? sigabbrev_np(signal_number)
                                                                 : std::to_string(signal_number).c_str())),
      signal_number_(signal_number) {}

std::string errno_text(int error_number) {
  return fmt::format("{} ({})", strerror(error_number), errno_name(error_number));
}

std::string errno_name(int error_number) {
  const char* name = strerrorname_np(error_number);
  return name != nullptr ? name : fmt::format("errno {}", error_number);
}

}  // namespace mongo
