// Reads any bytes as a matrix. They are refused with a UsageError, or understood in full: what was understood, written
// out again, says all that the file says, and makes the same cells.
//
//   cmake -S . -B build-fuzz -G Ninja -DMONGO_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++
//   cmake --build build-fuzz --target fuzz_matrix
//   mkdir new && build-fuzz/tests/fuzz_matrix -max_total_time=180 new tests/fuzz/corpus/matrix
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "harness/core/errors.h"
#include "harness/plan/matrix.h"
#include "tests/support/matrix_text.h"

namespace {

using namespace mongo;

[[noreturn]] void complain(const char* what, const std::string& text, const std::string& rewritten) {
  std::fprintf(stderr, "%s\n--- read\n%s\n--- understood as\n%s\n", what, text.c_str(), rewritten.c_str());
  std::abort();
}

bool same_cells(const Matrix& a, const Matrix& b) {
  return std::equal(a.cells.begin(), a.cells.end(), b.cells.begin(), b.cells.end(), [](const auto& x, const auto& y) {
    return x.id == y.id && x.repeat == y.repeat && x.parameters == y.parameters && x.request.log == y.request.log;
  });
}

void check_understood(const Matrix& matrix) {
  const std::string& text = matrix.text;
  const std::string rewritten = write_matrix(read_matrix_document(YamlDocument(text, "fuzz.yaml")));
  const auto before = said_in_matrix(text), after = said_in_matrix(rewritten);
  std::multiset<std::string> lost;
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(), std::inserter(lost, lost.begin()));
  for (const std::string& one : lost) {
    // A value that an axis has twice is left out with a warning. An empty map of defaults says nothing.
    const bool twice = one.starts_with("matrix/") && !matrix.warnings.empty();
    if (!twice && one != "defaults/") complain(("lost: " + one).c_str(), text, rewritten);
  }
  try {
    if (!same_cells(matrix, parse_matrix(rewritten, "again.yaml"))) complain("other cells", text, rewritten);
  } catch (const UsageError& error) {
    complain(error.what(), text, rewritten);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    check_understood(parse_matrix(text, "fuzz.yaml"));
  } catch (const UsageError& error) {
    if (!std::string(error.what()).starts_with("fuzz.yaml:")) complain("no place in the message", text, error.what());
  }
  return 0;
}
