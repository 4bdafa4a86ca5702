#pragma once

#include <functional>
#include <string>

// Sorts what a guest prints. Private to harness/guest.

namespace mongo::guest {

class GuestConsole {
 public:
  explicit GuestConsole(std::function<void(const std::string&)> on_told) : on_told_(std::move(on_told)) {}

  /// Any part of the output, in order. Passes on what on_told throws.
  void add(const char* bytes, std::size_t size);
  /// What came after the last line feed is a line, too.
  void end();

  const std::string& tail() const { return tail_; }
  /// "Attempted to kill init! exitcode=0x00000300"; empty if the kernel did not panic.
  const std::string& panic() const { return panic_; }
  /// The last line that is not empty.
  const std::string& last_line() const { return last_line_; }

 private:
  void line();
  std::function<void(const std::string&)> on_told_;
  std::string line_, tail_, panic_, last_line_;
};

}  // namespace mongo::guest
