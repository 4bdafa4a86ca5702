#pragma once

#include <string>

#include "harness/core/interrupt.h"

namespace mongo {

/// Where the tool speaks: results on stdout, messages on stderr. A reader that closed stdout ends the run as SIGPIPE
/// would, but through the clean-up.
class Console {
 public:
  explicit Console(InterruptWatch& watch);
  void out(const std::string& text);
  void error(const std::string& text);  // "mongo: text\n" on stderr
  /// A line on the terminal that the next one replaces; nothing where stderr is no terminal.
  void status_line(const std::string& text);
  void clear_status_line();
  /// stderr is a terminal that can replace a line.
  bool has_status_line() const { return status_line_; }
  /// The text emphasised where stderr is a terminal and NO_COLOR is not set (https://no-color.org).
  std::string emphasise(const std::string& text) const;
  /// Something written to stdout was lost; errno of the first failure, or 0.
  int lost() const { return lost_; }

 private:
  InterruptWatch& watch_;
  bool status_line_;
  bool colour_;
  bool shown_ = false;
  int lost_ = 0;
};

}  // namespace mongo
