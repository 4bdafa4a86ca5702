#pragma once

#include <string>
#include <vector>

namespace mongo {

/// The argv as one line that a shell would read as the same words; for messages and logs. Nothing is ever given to a
/// shell.
std::string quote_argv(const std::vector<std::string>& argv);

}  // namespace mongo
