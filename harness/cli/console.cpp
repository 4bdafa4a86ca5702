#include "harness/cli/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "harness/core/quote.h"

namespace mongo {
namespace {

/// Returns 0 or the errno.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = write(fd, text.data(), text.size());
    if (size < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return 0;
}

bool can_replace_lines() {
  const char* terminal = getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

Console::Console(InterruptWatch& watch) : watch_(watch), status_line_(can_replace_lines()) {
  const char* no_color = getenv("NO_COLOR");
  colour_ = status_line_ && (no_color == nullptr || *no_color == '\0');
}

void Console::out(const std::string& text) {
  clear_status_line();
  if (lost_ != 0) return;
  lost_ = write_all(STDOUT_FILENO, text);
  if (lost_ == EPIPE) watch_.raise(SIGPIPE);
}

void Console::error(const std::string& text) {
  clear_status_line();
  // Line by line: names in a message may hold anything, and must not write to the terminal.
  std::string safe;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    safe += printable(text.substr(start, end - start)) + "\n";
    start = end + 1;
  }
  write_all(STDERR_FILENO, "mongo: " + safe);
}

void Console::status_line(const std::string& text) {
  if (!status_line_) return;
  shown_ = true;
  std::string line = text.substr(0, terminal_width() - 1);
  if (const std::size_t colon = line.find(':'); colour_ && colon != std::string::npos) {
    line = emphasise(line.substr(0, colon)) + line.substr(colon);
  }
  write_all(STDERR_FILENO, "\r\033[K" + line);
}

void Console::clear_status_line() {
  if (!shown_) return;
  shown_ = false;
  write_all(STDERR_FILENO, "\r\033[K");
}

std::string Console::emphasise(const std::string& text) const { return colour_ ? "\033[1m" + text + "\033[0m" : text; }

}  // namespace mongo
