// The files that the fuzzer starts from, and what it has found.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size);  // tests/fuzz/fuzz_matrix.cpp

namespace mongo {
namespace {

TEST(MatrixCorpus, IsRefusedOrUnderstoodInFull) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(MONGO_SOURCE_DIR "/tests/fuzz/corpus/matrix")) {
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    ++files;
    LLVMFuzzerTestOneInput(reinterpret_cast<const unsigned char*>(text.data()), text.size());  // aborts
  }
  EXPECT_GT(files, 20);
}

}  // namespace
}  // namespace mongo
