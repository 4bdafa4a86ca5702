#include "harness/device/kernel_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace mongo {

KernelLog::KernelLog() : log_(open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
  if (log_.valid() && lseek(log_.get(), 0, SEEK_END) < 0) log_.reset();
}

std::string KernelLog::last_line_about(const std::vector<std::string>& words) {
  std::vector<std::string> last(words.size());
  char record[8192];  // one read, one record: "priority,sequence,microseconds,flags;text\n KEY=value..."
  // Bounded, because a kernel that logs without end would be read without end.
  for (int turn = 0; log_.valid() && turn < 10000; ++turn) {
    const ssize_t got = read(log_.get(), record, sizeof record);
    if (got < 0 && (errno == EPIPE || errno == EINTR)) continue;  // EPIPE: the oldest records were overwritten
    if (got <= 0) break;
    const std::string text(record, static_cast<std::size_t>(got));
    const std::size_t begin = text.find(';');
    if (begin == std::string::npos || std::strtol(text.c_str(), nullptr, 10) / 8 != 0)
      continue;  // written by a program
    const std::string line = text.substr(begin + 1, text.find('\n', begin) - begin - 1);
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (line.find(words[i]) != std::string::npos) last[i] = line;
    }
  }
  for (const std::string& line : last) {
    if (!line.empty()) return devio::printable(line);
  }
  return {};
}

}  // namespace mongo
