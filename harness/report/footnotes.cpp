#include "harness/report/footnotes.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/report/text.h"

namespace mongo {

std::string Footnotes::mark(const std::string& reason) {
  auto found = std::find(reasons_.begin(), reasons_.end(), reason);
  if (found == reasons_.end()) found = reasons_.insert(reasons_.end(), reason);
  return fmt::format("[{}]", found - reasons_.begin() + 1);
}

std::string Footnotes::text(std::size_t width) const {
  std::string out;
  for (std::size_t i = 0; i < reasons_.size(); ++i) {
    out += wrapped(fmt::format("[{}] {}", i + 1, ascii_line(reasons_[i])), width);
  }
  return out;
}

}  // namespace mongo
