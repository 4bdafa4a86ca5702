#include "harness/report/text.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "harness/core/quote.h"
#include "harness/core/record.h"

namespace mongo {
namespace {

TEST(Text, SecondsKeepWhatWasMeasured) {
  EXPECT_EQ(format_seconds(1.32), "1.320");
  EXPECT_EQ(format_seconds(12345.6789), "12345.679");
  EXPECT_EQ(format_seconds(0.01), "0.010");
  EXPECT_EQ(format_seconds(0.009999999), "0.010000");
  EXPECT_EQ(format_seconds(0.0004), "0.000400");
  EXPECT_EQ(format_seconds(0.000001), "0.000001");
  EXPECT_EQ(format_seconds(0.0000004), "0.000000400");
  EXPECT_EQ(format_seconds(0.000000001), "0.000000001");
}

TEST(Text, SecondsThatAreNoneAreADash) {
  EXPECT_EQ(format_seconds(std::nullopt), "-");
  EXPECT_EQ(format_seconds(std::numeric_limits<double>::quiet_NaN()), "-");
  EXPECT_EQ(format_seconds(std::numeric_limits<double>::infinity()), "-");
  EXPECT_EQ(format_seconds(-1.0), "-");
}

TEST(Text, RatiosAndCounts) {
  EXPECT_EQ(format_ratio(1.0), "1.000");
  EXPECT_EQ(format_ratio(1.0306), "1.031");
  EXPECT_EQ(format_ratio(std::nullopt), "-");
  EXPECT_EQ(format_ratio(std::numeric_limits<double>::quiet_NaN()), "-");
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(18446744073709551615ULL), "18446744073709551615");
  EXPECT_EQ(format_count(std::nullopt), "-");
}

TEST(Text, DecimalPointInEveryLocale) {
  // NOLINTBEGIN(concurrency-mt-unsafe): the test has one thread
  const std::string before = std::setlocale(LC_ALL, nullptr);
  // A locale of the test's own, from the sources in Debian's package locales.
  char folder[] = "/tmp/mongo-test-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string made = std::string(folder) + "/de_DE.UTF-8";
  const int status = std::system(("localedef -i de_DE -f UTF-8 " + made + " >/dev/null 2>&1").c_str());
  setenv("LOCPATH", folder, 1);
  const bool there = status == 0 && std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
  std::filesystem::remove_all(folder);
  unsetenv("LOCPATH");
  if (!there) GTEST_SKIP() << "the sources of the locale de_DE are not installed";
  EXPECT_STREQ(localeconv()->decimal_point, ",");
  EXPECT_EQ(format_seconds(1.5), "1.500");
  EXPECT_EQ(format_ratio(1.5), "1.500");
  EXPECT_NE(std::setlocale(LC_ALL, before.c_str()), nullptr);
  // NOLINTEND(concurrency-mt-unsafe)
}

TEST(Text, InvalidUtf8IsReplaced) {
  EXPECT_EQ(valid_utf8("plain \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"), "plain \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(valid_utf8("a\xff"), "a\xef\xbf\xbd");
  EXPECT_EQ(valid_utf8("\xc3"), "\xef\xbf\xbd");  // cut short
  for (const char* text :
       {"\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\x80"}) {
    EXPECT_FALSE(is_valid_utf8(text)) << text;
    EXPECT_TRUE(is_valid_utf8(valid_utf8(text)));
  }
}

TEST(Text, OneLineStaysOneLine) {
  EXPECT_EQ(one_line("a\nb\tc\r\x1b[0m\x7f"), "a\\nb\\tc\\x0d\\x1b[0m\\x7f");
  EXPECT_EQ(one_line(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(one_line("\xc2\x85"), "\\xc2\\x85");           // next line
  EXPECT_EQ(one_line("\xe2\x80\xa8"), "\\xe2\\x80\\xa8");  // line separator
  EXPECT_EQ(one_line("\xc3\xa4"), "\xc3\xa4");
  EXPECT_EQ(ascii_line("\xc3\xa4~"), "\\xc3\\xa4~");
}

TEST(Text, LongTextIsCutBetweenCharacters) {
  const std::string text(999, 'x');
  EXPECT_EQ(one_line(text), text);
  EXPECT_EQ(one_line(text + "\xc3\xa4" + "y"), text + "... (1002 bytes)");
}

TEST(Text, Wrapping) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrap_words("", 5), Lines{});
  EXPECT_EQ(wrap_words("ab cd", 5), Lines{"ab cd"});
  EXPECT_EQ(wrap_words("ab cd ef", 5), (Lines{"ab cd", "ef"}));
  EXPECT_EQ(wrap_words("abcdefg", 5), (Lines{"abcde", "fg"}));
  EXPECT_EQ(wrap_words(" abcdefg", 5), (Lines{" abcd", "efg"}));
  EXPECT_EQ(wrapped("", 10), "");
  EXPECT_EQ(wrapped("ab cd", 10), "ab cd\n");
  EXPECT_EQ(wrapped("one two three four", 10), "one two\n    three\n    four\n");
}

TEST(Text, Argv) {
  EXPECT_EQ(quote_argv({"mkfs.xfs", "-m", "reflink=0", "/dev/sdb1"}), "mkfs.xfs -m reflink=0 /dev/sdb1");
  EXPECT_EQ(quote_argv({"x", "", "a b", "it's", "$(rm)"}), "x '' 'a b' 'it'\\''s' '$(rm)'");
  EXPECT_EQ(quote_argv({}), "");
}

TEST(Status, NamesAndBack) {
  for (const Status status :
       {Status::ok, Status::incomplete, Status::failed, Status::unsupported, Status::interrupted, Status::skipped}) {
    EXPECT_EQ(parse_status(status_name(status)), status);
  }
  EXPECT_STREQ(status_name(Status::interrupted), "interrupted");
  EXPECT_EQ(parse_status("OK"), std::nullopt);
  EXPECT_EQ(parse_status(""), std::nullopt);
}

}  // namespace
}  // namespace mongo
