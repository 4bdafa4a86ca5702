#pragma once

#include <string>
#include <vector>

namespace mongo {

/// The reasons under a table, each once.
class Footnotes {
 public:
  /// "[1]", to be put behind a cell.
  std::string mark(const std::string& reason);
  /// A line, or several if it is long, for each reason; empty when there are none.
  std::string text(std::size_t width) const;

 private:
  std::vector<std::string> reasons_;
};

}  // namespace mongo
