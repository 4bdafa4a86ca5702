// Case 48: with a decimal comma in the process's locale every file and table is byte for byte the same.
#include <gtest/gtest.h>

#include <functional>
#include <sstream>

#include "harness/report/catalogue.h"
#include "harness/report/compare.h"
#include "harness/report/published.h"
#include "harness/report/record_json.h"
#include "harness/report/text.h"
#include "tests/support/comma_locale.h"
#include "tests/unit/report/samples.h"

namespace mongo {
namespace {

std::vector<RunRecord> all_samples() {
  return {samples::full(),        samples::out_of_inodes(), samples::interrupted(),
          samples::unsupported(), samples::minimal(),       samples::hostile()};
}

/// What it writes with a point, and with a comma.
void expect_the_same(const std::string& name, const std::function<std::string()>& write) {
  const std::string before = write();
  EXPECT_FALSE(before.empty()) << name;
  const test::CommaLocale comma;
  EXPECT_EQ(write(), before) << name;
}

TEST(DecimalComma, TheLocaleOfTheTestHasOne) {
  const test::CommaLocale comma;
  std::ostringstream text;
  text << 1234.5;
  EXPECT_EQ(text.str(), "1.234,5");
}

TEST(DecimalComma, ResultFilesAreTheSame) {
  for (const RunRecord& record : all_samples()) {
    for (const Format* format : formats()) {
      expect_the_same(record.filesystem + format->suffix, [&] { return format->render(record); });
    }
  }
}

TEST(DecimalComma, TablesAreTheSame) {
  const std::vector<RunRecord> runs{samples::plain("ext3"), samples::plain("xfs")};
  expect_the_same("compare", [&] { return side_by_side(runs); });
  expect_the_same("ratios", [&] { return side_by_side(runs, CompareFigures::ratios); });
  expect_the_same("published", [&] { return beside_published(runs, runs); });
}

TEST(DecimalComma, NumbersAreTheSame) {
  for (const double value : {0.0, 4e-7, 0.0035, 2.88, 1234567.875}) {
    expect_the_same("seconds", [&] { return format_seconds(value); });
    expect_the_same("ratio", [&] { return format_ratio(value); });
    expect_the_same("multiple", [&] { return format_multiple(value); });
    expect_the_same("percent", [&] { return format_percent(value); });
  }
  expect_the_same("count", [] { return format_count(1234567); });
}

TEST(DecimalComma, RecordsAreReadTheSame) {
  for (const RunRecord& record : all_samples()) {
    const std::string line = to_json_line(record);
    const test::CommaLocale comma;
    EXPECT_EQ(to_json_line(record_from_json(nlohmann::ordered_json::parse(line))), line);
  }
}

}  // namespace
}  // namespace mongo
