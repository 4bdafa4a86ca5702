#include "harness/report/record_json.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <set>
#include <limits>

#include "harness/core/errors.h"
#include "harness/report/text.h"
#include "tests/unit/report/samples.h"
#include "tests/unit/report/schema.h"

namespace mongo {
namespace {

using Json = nlohmann::ordered_json;

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(RecordJson, RoundTrip) {
  for (const RunRecord& record : {samples::full(), samples::out_of_inodes(), samples::interrupted(),
                                  samples::unsupported(), samples::minimal(), samples::hostile()}) {
    const Json json = to_json(record);
    const std::string line = to_json_line(record);
    EXPECT_EQ(to_json(record_from_json(json)), json);
    EXPECT_EQ(to_json_line(record_from_json(Json::parse(line))), line);
    EXPECT_EQ(line.find('\n'), std::string::npos);
  }
}

TEST(RecordJson, KeysAndUnits) {
  const Json json = to_json(samples::full());
  EXPECT_EQ(json["schema"], 2);
  EXPECT_EQ(json["reason"], nullptr);
  EXPECT_EQ(json["device"]["size_bytes"], 2147483648U);
  EXPECT_EQ(json["device"]["destroyed"][0]["type"], "ext4");
  EXPECT_EQ(json["mkfs"]["argv"][3], "two words");
  EXPECT_EQ(json["mount"]["requested"], "noatime");
  const Json& pass = json["passes"][0];
  EXPECT_EQ(pass["median_file_size_bytes"], 100);
  EXPECT_EQ(pass["files"], 68952);
  const Json& create = pass["phases"][0];
  EXPECT_EQ(create["label"], "Create");
  EXPECT_DOUBLE_EQ(create["seconds"].get<double>(), 1.32);
  EXPECT_EQ(create["repetition_seconds"].size(), 3U);
  EXPECT_EQ(create["used_kib"], 854376);
  EXPECT_EQ(create["fragmentation"]["files"], 177);
  EXPECT_EQ(create["fragmentation"]["fragments"], 177);
  EXPECT_EQ(create["fragmentation"]["all_files"]["files"], 34476);
  EXPECT_EQ(create["errors"][0]["code"], 5);
  EXPECT_FALSE(pass["phases"][2].contains("used_kib"));
  EXPECT_FALSE(pass["phases"][2].contains("fragmentation"));
}

TEST(RecordJson, NoNumberInPlaceOfATime) {
  RunRecord record = samples::out_of_inodes();
  record.passes[0].phases[0].seconds = 1.5;  // what must not happen
  record.passes[0].phases[0].repetition_seconds = {1.5};
  const Json create = to_json(record)["passes"][0]["phases"][0];
  EXPECT_EQ(create["seconds"], nullptr);
  EXPECT_TRUE(create["repetition_seconds"].empty());
  EXPECT_EQ(create["reason"], "ENOSPC: no inodes left, 53 of 200 files");
  const Json skipped = to_json(record)["passes"][0]["phases"][1];
  EXPECT_EQ(skipped["elapsed_seconds"], nullptr);
  EXPECT_EQ(skipped["cpu_user_seconds"], nullptr);
  const Json unread = to_json(samples::interrupted())["passes"][0]["phases"][0]["fragmentation"];
  EXPECT_EQ(unread["ratio"], nullptr);
  EXPECT_EQ(unread["shared_extents"], nullptr);
}

TEST(RecordJson, HostileValues) {
  const std::string line = to_json_line(samples::hostile());
  EXPECT_TRUE(is_valid_utf8(line));
  const Json json = Json::parse(line);
  EXPECT_EQ(json["mkfs"]["seconds"], nullptr);
  EXPECT_EQ(json["device"]["given"], std::string("a\0b", 3));
  EXPECT_EQ(json["mount"]["effective"].get<std::string>().size(), 100000U);
  const Json& create = json["passes"][0]["phases"][0];
  EXPECT_EQ(create["seconds"], nullptr);
  EXPECT_EQ(create["repetition_seconds"], Json::parse("[null,null,0.5]"));
  EXPECT_EQ(create["cpu_user_seconds"], nullptr);
  EXPECT_EQ(create["elapsed_seconds"], nullptr);
  EXPECT_EQ(create["errors"][0]["count"], std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(create["errors"][0]["first_path"], "d/\xef\xbf\xbd\xef\xbf\xbd\nfiles=1");
  // Whoever dumps the JSON himself is as safe.
  EXPECT_NO_THROW(to_json(samples::hostile()).dump());
}

TEST(RecordJson, FurtherKeysArePassedOver) {
  Json json = to_json(samples::full());
  json["new_field"] = 1;
  json["passes"][0]["phases"][0]["latency"] = {{"p99", 1}};
  EXPECT_EQ(to_json(record_from_json(json)), to_json(samples::full()));
}

TEST(RecordJson, RefusalsNameThePlaceAndTheReason) {
  const auto with = [](const char* pointer, const Json& value) {
    return refusal([&] {
      Json json = to_json(samples::full());
      json[Json::json_pointer(pointer)] = value;
      record_from_json(json);
    });
  };
  EXPECT_EQ(with("/schema", 1), "/schema: this is schema 1, and this version of mongo reads schema 2 only");
  EXPECT_EQ(with("/schema", "1"), "/schema: must be a whole number from 0 to 2147483647, but is \"1\"");
  EXPECT_EQ(
      with("/status", "fine"),
      "/status: \"fine\" is not a status; it is one of ok, incomplete, failed, unsupported, interrupted, skipped");
  EXPECT_EQ(with("/filesystem", ""), "/filesystem: must not be empty");
  EXPECT_EQ(with("/processes", 0), "/processes: must be a whole number from 1 to 2147483647, but is 0");
  EXPECT_EQ(with("/processes", 18446744073709551615ULL),
            "/processes: must be a whole number from 1 to 2147483647, but is 18446744073709551615");
  EXPECT_EQ(with("/processes", 4294967297),
            "/processes: must be a whole number from 1 to 2147483647, but is 4294967297");
  EXPECT_EQ(with("/processes", 1.5), "/processes: must be a whole number from 1 to 2147483647, but is 1.5");
  EXPECT_EQ(with("/sync", "often"), "/sync: must be one of each, phase, none, but is \"often\"");
  EXPECT_EQ(with("/passes/0/phases/3/cache/state", "cold"),
            "/passes/0/phases/3/cache/state: must be one of warm, drop, remount, but is \"cold\"");
  EXPECT_EQ(with("/verify", 1), "/verify: must be true or false, but is 1");
  EXPECT_EQ(with("/host", nullptr), "/host: must be an object, but is null");
  EXPECT_EQ(with("/passes", Json::object()), "/passes: must be an array, but is {}");
  EXPECT_EQ(with("/passes/1/files", -1), "/passes/1/files: must be a whole number, 0 or more, but is -1");
  EXPECT_EQ(with("/passes/0/phases/3/seconds", "1,5"),
            "/passes/0/phases/3/seconds: must be a number, 0 or more, or null, but is \"1,5\"");
  EXPECT_EQ(with("/passes/0/phases/3/seconds", -1),
            "/passes/0/phases/3/seconds: must be a number, 0 or more, or null, but is -1");
  EXPECT_EQ(with("/passes/0/phases/3/status", "failed"),
            "/passes/0/phases/3/seconds: must be null: the phase is not ok");
  EXPECT_EQ(with("/mkfs/argv/1", 5), "/mkfs/argv/1: must be a string, but is 5");
  EXPECT_EQ(refusal([] { record_from_json(Json(3)); }), "/: must be an object, but is 3");
}

TEST(RecordJson, EveryFieldIsRequiredButThoseOfSomePhasesAndNewOnes) {
  const std::set<std::string> of_some_phases{"used_kib", "data_bytes",    "allocated_bytes", "directories",
                                             "files",    "fragmentation", "free_space"};
  std::function<void(const Json&, const std::string&)> visit = [&](const Json& part, const std::string& place) {
    if (part.is_array()) {
      for (std::size_t i = 0; i < part.size(); ++i) visit(part[i], schema::below(place, std::to_string(i)));
    }
    if (!part.is_object()) return;
    for (const auto& [key, value] : part.items()) {
      const bool of_a_phase = place.find("/phases/") != std::string::npos &&
                              place.find("fragmentation") == std::string::npos &&
                              place.find("free_space") == std::string::npos && of_some_phases.count(key) > 0;
      const bool optional = of_a_phase || (place.empty() && key == "utc_offset");  // newer than the schema's number
      Json json = to_json(samples::full());
      json[Json::json_pointer(place)].erase(key);
      const std::string expected =
          optional ? "nothing was refused" : (place.empty() ? "/" : place) + ": the field \"" + key + "\" is missing";
      EXPECT_EQ(refusal([&] { record_from_json(json); }), expected) << place << " " << key;
      visit(value, schema::below(place, key));
    }
  };
  visit(to_json(samples::full()), "");
}

class RecordFileTest : public testing::Test {
 protected:
  std::string write(const std::string& text) {
    std::string path = (folder_.path() / "log.jsonl").string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::string refused(const std::string& path) {
    std::string text = refusal([&] { read_records(path); });
    for (std::size_t at; (at = text.find(folder_.path().string())) != std::string::npos;) {
      text.replace(at, folder_.path().string().size(), "DIR");
    }
    return text;
  }
  samples::TemporaryFolder folder_;
};

TEST_F(RecordFileTest, ReadsEveryLine) {
  const std::string path =
      write("\xef\xbb\xbf" + to_json_line(samples::full()) + "\r\n\n" + to_json_line(samples::minimal()));
  const RecordFile file = read_records(path);
  ASSERT_EQ(file.records.size(), 2U);
  EXPECT_TRUE(file.warnings.empty());
  EXPECT_EQ(file.records[0].filesystem, "xfs");
  EXPECT_EQ(file.records[1].run_id, "x");
}

TEST_F(RecordFileTest, LinesThatAreNoJsonArePassedOverWithAWarning) {
  const std::string line = to_json_line(samples::full());
  const std::string path =
      write(line.substr(0, 200) + "\n" + line + "\n" + std::string(100, '\0') + "\n" + line.substr(0, line.size() - 1));
  const RecordFile file = read_records(path);
  EXPECT_EQ(file.records.size(), 1U);
  ASSERT_EQ(file.warnings.size(), 3U);
  EXPECT_EQ(file.warnings[0], path + ":1: this line is cut short, as by a crash, and was passed over");
  EXPECT_EQ(file.warnings[1], path + ":3: this line is no JSON and was passed over");
  EXPECT_EQ(file.warnings[2], path + ":4: this line is cut short, as by a crash, and was passed over");
}

// Wherever a crash cuts a line off, it is told from a line that is broken.
TEST_F(RecordFileTest, ALineCutAnywhereIsPassedOver) {
  RunRecord record = samples::unsupported();
  record.reason = "\xc3\xa4\\ \x01 \"";
  record.phase_timeout_seconds = 1.5e-7;
  const std::string line = to_json_line(record);
  for (std::size_t size = 1; size < line.size(); ++size) {
    for (const std::string& zeros : {std::string(), std::string(3, '\0')}) {
      const std::string path = write(line + "\n" + line.substr(0, size) + zeros + "\n" + line + "\n");
      const RecordFile file = read_records(path);
      ASSERT_EQ(file.records.size(), 2U) << size;
      ASSERT_EQ(file.warnings,
                std::vector<std::string>{path + ":2: this line is cut short, as by a crash, and was passed over"});
    }
  }
}

// Case 48: a decimal comma is an error with its place. It is neither 2 nor a reason to show the run before it.
TEST_F(RecordFileTest, ADecimalCommaIsAnErrorWithItsPlace) {
  const std::string good = to_json_line(samples::full());
  const std::size_t at = good.find("\"seconds\":", good.find("\"phases\"")) + std::string("\"seconds\":").size();
  const auto with = [&](const std::string& number) {
    return std::string(good).replace(at, good.find(',', at) - at, number);
  };
  const std::size_t column = at + std::string("2,88").size();
  const std::string refusal = refused(write(good + "\n" + with("2,88") + "\n"));
  EXPECT_EQ(refusal.find("DIR/log.jsonl:2:" + std::to_string(column) + ": this line is no JSON: "), 0U) << refusal;
  EXPECT_TRUE(samples::contains(refusal, "\"seconds\":2,88'. Decimal numbers have a point, not a comma")) << refusal;
  EXPECT_EQ(refused(write(with("\"2,88\"") + "\n")),
            "DIR/log.jsonl:1: /passes/0/phases/0/seconds: must be a number, 0 or more, or null, but is \"2,88\"");
  for (const char* number : {"NaN", "Infinity", "-Infinity", "nan", ".5", "2.", "0x1", "1 2", "1e999"}) {
    const std::string other = refused(write(with(number) + "\n"));
    EXPECT_TRUE(samples::contains(other, "DIR/log.jsonl:1:")) << number << ": " << other;
    EXPECT_FALSE(samples::contains(other, "not a comma")) << number << ": " << other;
  }
}

TEST_F(RecordFileTest, WrongRecordsAreErrors) {
  EXPECT_EQ(refused(write(to_json_line(samples::full()) + "\n{\"schema\":7}\n")),
            "DIR/log.jsonl:2: /schema: this is schema 7, and this version of mongo reads schema 2 only");
  EXPECT_EQ(refused(write("[]\n")), "DIR/log.jsonl:1: /: must be an object, but is []");
}

TEST_F(RecordFileTest, FilesThatHoldNoRecord) {
  EXPECT_EQ(refused((folder_.path() / "none").string()), "cannot open DIR/none: No such file or directory (ENOENT)");
  EXPECT_EQ(refused(folder_.path().string()), "DIR is a directory; name the .jsonl file in it");
  EXPECT_EQ(refused("/dev/null"), "/dev/null is neither a file nor a pipe");
  EXPECT_EQ(refused(write("")), "DIR/log.jsonl holds no record of a run");
  std::ofstream(folder_.path() / "log") << "FILESYSTEM=xfs\n";
  EXPECT_EQ(refused((folder_.path() / "log").string()),
            "DIR/log holds no record of a run; did you mean DIR/log.jsonl?");
}

}  // namespace
}  // namespace mongo
