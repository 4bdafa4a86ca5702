#include "harness/core/byte_size.h"

#include <gtest/gtest.h>

#include "harness/core/errors.h"

namespace mongo {
namespace {

TEST(ByteSize, ReadsTheDocumentedTable) {
  const std::uint64_t m = 1048576;
  const std::pair<const char*, std::uint64_t> good[] = {
      {"0", 0},
      {"17", 17},
      {"17B", 17},
      {"1K", 1024},
      {"1Ki", 1024},
      {"1KiB", 1024},
      {"10M", 10 * m},
      {"10Mi", 10 * m},
      {"10MiB", 10 * m},
      {"10MB", 10'000'000},
      {"1kB", 1000},
      {"1.5G", 1536 * m},
      {"2GiB", 2048 * m},
      {"1TiB", 1048576 * m},
      {"1TB", 1'000'000'000'000},
      {"0.5KiB", 512},
      {"10000000", 10'000'000},
      {"1.000kB", 1000},
      {"9223372036854775807", 9223372036854775807ULL},
  };
  for (const auto& [text, bytes] : good) EXPECT_EQ(parse_byte_size(text).bytes, bytes) << text;
}

TEST(ByteSize, RefusesEverythingElse) {
  for (const char* text : {"",
                           "-1M",
                           "+1M",
                           " 1M",
                           "1M ",
                           "10 MiB",
                           "10m",
                           "1e6",
                           "1.5",
                           "0.3K",
                           "1.",
                           ".5K",
                           "9E",
                           "1KB",
                           "1Kb",
                           "99999999999G",
                           "9223372036854775808",
                           "18446744073709551616",
                           "8388608TiB",
                           "0x10",
                           "1,5G",
                           "1..5G",
                           "1.0000000000K",
                           "G",
                           "1GiBB",
                           "\xd9\xa1"}) {
    EXPECT_THROW(parse_byte_size(text), UsageError) << text;
  }
}

TEST(ByteSize, ErrorNamesTheText) {
  try {
    parse_byte_size("10Q");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("'10Q'"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("suffix 'Q'"), std::string::npos);
    EXPECT_EQ(error.status(), ExitStatus::usage);
  }
}

TEST(ByteSize, PrintsWithoutAmbiguity) {
  EXPECT_EQ(format_exact({0}), "0 bytes");
  EXPECT_EQ(format_exact({1536 * 1048576ULL}), "1536 MiB");
  EXPECT_EQ(format_exact({1000}), "1000 bytes");
  EXPECT_EQ(format_rounded({1536 * 1048576ULL}), "1.5 GiB");
  EXPECT_EQ(format_rounded({1023}), "1023 bytes");
}

}  // namespace
}  // namespace mongo
