#pragma once

#include <string>
#include <vector>

namespace mongo {

/// The argv as one line that a shell would read as the same words; for messages and logs. Nothing is ever given to a
/// shell.
std::string quote_argv(const std::vector<std::string>& argv);

/// For messages: control characters as \xNN, so that a label or a file name cannot write to the terminal or make up a
/// line.
std::string printable(const std::string& text);

}  // namespace mongo
