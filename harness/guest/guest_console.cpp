#include "harness/guest/guest_console.h"

#include <cstring>
#include <utility>

#include "harness/core/quote.h"
#include "harness/guest/protocol.h"

namespace mongo::guest {
namespace {

constexpr std::size_t longest_line = 4096;
constexpr std::size_t kept = 16384;
constexpr const char* panic_mark = "Kernel panic - not syncing: ";

}  // namespace

void GuestConsole::add(const char* bytes, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    if (bytes[i] == '\n') {
      line();
    } else if (bytes[i] != '\r' && line_.size() < longest_line) {
      line_ += bytes[i];
    }
  }
}

void GuestConsole::end() { line(); }

void GuestConsole::line() {
  const std::string line = std::exchange(line_, "");
  if (line.empty()) return;
  if (line.starts_with(line_prefix)) {
    if (on_told_) on_told_(line.substr(std::strlen(line_prefix)));
    return;
  }
  last_line_ = printable(line);
  tail_ += last_line_ + "\n";
  if (tail_.size() > kept) tail_.erase(0, tail_.find('\n', tail_.size() - kept) + 1);
  if (const std::size_t mark = line.find(panic_mark); mark != std::string::npos && panic_.empty()) {
    panic_ = printable(line.substr(mark + std::strlen(panic_mark)));
  }
}

}  // namespace mongo::guest
