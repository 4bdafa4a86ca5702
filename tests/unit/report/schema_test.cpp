#include "tests/unit/report/schema.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "harness/report/record_json.h"
#include "tests/unit/report/samples.h"

namespace mongo {
namespace {

using schema::Json;

Json record_schema_file() {
  const std::filesystem::path root = MONGO_SOURCE_DIR;
  return Json::parse(samples::read_file(root / "configs" / "record.schema.json"));
}

using Errors = std::vector<std::string>;

TEST(Schema, RecordsAgreeWithIt) {
  const Json schema = record_schema_file();
  for (const RunRecord& record : {samples::full(), samples::out_of_inodes(), samples::interrupted(),
                                  samples::unsupported(), samples::minimal(), samples::hostile()}) {
    EXPECT_EQ(schema::validate(schema, Json::parse(to_json_line(record))), Errors{});
  }
}

TEST(Schema, DescribesEveryFieldAndNoOther) {
  EXPECT_EQ(schema::described_fields(record_schema_file()), schema::fields(to_json(samples::full())));
}

TEST(Schema, EveryFieldIsDescribedInWords) {
  const std::function<void(const Json&, const std::string&)> visit = [&](const Json& part, const std::string& place) {
    if (!part.is_object()) return;
    for (const auto& [key, value] : part.items()) {
      if (key == "properties" && place.find("/if") == std::string::npos && place.find("/else") == std::string::npos) {
        for (const auto& [name, field] : value.items()) {
          EXPECT_TRUE(field.contains("description") || field.contains("$ref")) << place << "/" << name;
        }
      }
      visit(value, schema::below(place, key));
    }
  };
  visit(record_schema_file(), "");
}

TEST(Schema, TheReadmeHasTheSameWords) {
  std::ifstream in(MONGO_SOURCE_DIR "/README.md");
  const std::string readme((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::function<void(const Json&)> visit = [&](const Json& part) {
    if (part.contains("properties")) {
      for (const auto& [name, field] : part.at("properties").items()) {
        if (!field.contains("description")) continue;
        const std::string text = field.at("description").get<std::string>() + " |\n";
        EXPECT_NE(readme.find(name + "` | "), std::string::npos) << name;
        EXPECT_NE(readme.find(text), std::string::npos) << name << ": " << text;
        visit(field);
      }
    }
    if (part.contains("items")) visit(part.at("items"));
  };
  const Json schema = record_schema_file();
  visit(schema);
  for (const auto& [name, part] : schema.at("$defs").items()) visit(part);
}

TEST(Schema, RefusesWhatTheReaderRefuses) {
  const Json schema = record_schema_file();
  const auto with = [&](const char* pointer, const Json& value) {
    Json json = to_json(samples::full());
    json[Json::json_pointer(pointer)] = value;
    return schema::validate(schema, json);
  };
  EXPECT_EQ(with("/schema", 1), Errors{"/schema: is not 2"});
  EXPECT_EQ(with("/status", "fine").size(), 1U);
  EXPECT_EQ(with("/processes", 0), Errors{"/processes: is below 1"});
  EXPECT_EQ(with("/processes", "1"), Errors{"/processes: is not of type \"integer\""});
  EXPECT_EQ(with("/passes/0/phases/0/seconds", -1.5), Errors{"/passes/0/phases/0/seconds: is below 0"});
  EXPECT_EQ(with("/passes/0/phases/0/status", "failed"),
            (Errors{"/passes/0/phases/0/seconds: is not of type \"null\"",
                    "/passes/0/phases/0/repetition_seconds: has too many items"}));
  EXPECT_EQ(with("/device/colour", "red"), Errors{"/device: has the unknown field colour"});
  EXPECT_EQ(schema::validate(schema, Json::object()).size(), schema.at("required").size());
}

TEST(Schema, TheTestReportsKeywordsThatItDoesNotKnow) {
  EXPECT_EQ(schema::validate(Json::parse(R"({"multipleOf": 2})"), Json("x")),
            Errors{": the schema uses the keyword multipleOf, which this test does not know"});
}

}  // namespace
}  // namespace mongo
