// configs/matrix.schema.json and the reader agree: documents made from the schema are taken, but for what a schema
// cannot say, and what the schema refuses is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <set>

#include "harness/plan/matrix_document.h"
#include "tests/support/matrix_text.h"
#include "tests/unit/plan/matrix_support.h"
#include "tests/unit/report/schema.h"

namespace mongo {
namespace {

using schema::Json;
namespace fs = std::filesystem;

std::string file_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

const Json& matrix_schema() {
  static const Json schema = Json::parse(file_text(fs::path(MONGO_SOURCE_DIR) / "configs" / "matrix.schema.json"));
  return schema;
}

/// Makes documents by chance.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t bound) { return random_() % bound; }
  bool one_in(std::size_t n) { return below(n) == 0; }

  /// Something that the schema describes. Texts come from the examples.
  Json make(const Json& part) {
    if (part.contains("$ref")) {
      return make(matrix_schema().at(Json::json_pointer(part.at("$ref").get<std::string>().substr(1))));
    }
    for (const char* list : {"examples", "enum"}) {
      if (part.contains(list)) return part.at(list).at(below(part.at(list).size()));
    }
    if (part.contains("anyOf") && !part.contains("type"))
      return make(part.at("anyOf").at(below(part.at("anyOf").size())));
    const std::string type = part.at("type");
    if (type == "boolean") return one_in(2);
    if (type == "object") return object(part);
    if (type != "array") throw std::logic_error("no example for " + part.dump());
    Json list = Json::array();
    const std::size_t count = part.value("minItems", 0U) + below(3);
    for (std::size_t i = 0; i < count; ++i) list.push_back(make(part.at("items")));
    return list;
  }

  Json matrix() {
    Json all = object(matrix_schema());
    // Without these three hardly anything would be taken.
    if (!all.contains("devices")) all["device"] = "loop:2GiB";
    if (all.contains("defaults")) all["defaults"].erase("device");
    all["matrix"]["filesystem"] = make(matrix_schema().at("/properties/matrix/properties/filesystem"_json_pointer));
    return all;
  }

  /// Changes one place anywhere in the document.
  void spoil(Json& document) {
    std::vector<Json::json_pointer> places{Json::json_pointer()};
    const Json flat = document.flatten();
    for (const auto& [place, value] : flat.items()) {
      for (Json::json_pointer at(place); !at.empty(); at = at.parent_pointer()) places.push_back(at);
    }
    Json& node = document[places[below(places.size())]];
    if (node.is_object() && one_in(2)) {
      const std::vector<std::string> keys{"processes", "filesystem", "mount_option", "log",
                                          "",          "<<",         "options",      "device"};
      node[keys[below(keys.size())]] = junk();
    } else if (node.is_object() && !node.empty() && one_in(2)) {
      auto entry = node.begin();
      std::advance(entry, static_cast<std::ptrdiff_t>(below(node.size())));
      const Json value = entry.value();
      const std::string key = entry.key();
      node.erase(key);
      if (one_in(2)) node[key + "s"] = value;
    } else {
      node = junk();
    }
  }

 private:
  Json object(const Json& part) {
    Json result = Json::object();
    if (!part.contains("properties")) {
      for (const char* name : {"plain", "set-1"}) {
        if (one_in(2)) result[name] = make(part.at("additionalProperties"));
      }
      return result;
    }
    const Json& properties = part.at("properties");
    const std::size_t rarely = properties.size() / 3 + 1;
    for (const auto& [key, property] : properties.items()) {
      if (one_in(rarely)) result[key] = make(property);
    }
    if (result.size() < part.value("minProperties", 0U)) {
      auto any = properties.begin();
      std::advance(any, static_cast<std::ptrdiff_t>(below(properties.size())));
      result[any.key()] = make(any.value());
    }
    return result;
  }

  Json junk() {
    static const Json all =
        Json::parse(R"([null, true, false, 0, -1, 1, 4, 4.0, 1.5, 1000000, 20000000000, "", "4", "010",
      "no", "true", "ext4", "smoke", "10m", "1e6", "10 MiB", "a,,b", ",", "a\nb", " 4", "drop", "each", [], {}, [[]], [1],
      ["x", "x"], [null], {"a": 1}, [{}], [{"filesystem": "xfs"}], {"filesystem": "xfs"}, [true], [[1]], "plain", "ä"])");
    return all[below(all.size())];
  }

  std::mt19937 random_;
};

/// What a schema cannot say; its description names it.
bool is_beyond_a_schema(const std::string& message) {
  for (const char* part :
       {"there is no option set", "says it too", "is no phase of this run", "no cell of", "cells, more than",
        "at most 10000 are allowed", "is for loop:", "it is missing for the cell", "there is nothing to take from",
        "twice", "needs the files that create makes", " cannot be used with "}) {
    if (contains(message, part)) return true;
  }
  return false;
}

TEST(MatrixSchema, DescribesEveryKeyAndNoOther) {
  std::set<std::string> known, described;
  for (const MatrixKey& key : matrix_keys()) known.insert(key.name);
  for (const auto& [name, part] : matrix_schema().at("/$defs/entry/properties"_json_pointer).items())
    described.insert(name);
  described.insert("mount_point");  // at the top and in defaults only
  EXPECT_EQ(described, known);
  const std::function<void(const Json&, const std::string&)> visit = [&](const Json& part, const std::string& place) {
    if (part.contains("properties") && place.find("/not") == std::string::npos &&
        place.find("/anyOf/") == std::string::npos) {
      for (const auto& [name, property] : part.at("properties").items()) {
        const bool words = property.contains("description") || property.contains("$ref") || property.contains("type");
        EXPECT_TRUE(words) << place << "/" << name;
      }
    }
    if (part.is_structured()) {
      for (const auto& [name, inner] : part.items()) visit(inner, place + "/" + name);
    }
  };
  visit(matrix_schema(), "");
  for (const auto& [name, part] : matrix_schema().at("$defs").items())
    EXPECT_TRUE(part.contains("description")) << name;
}

TEST(MatrixSchema, WhatIsMadeFromItIsTaken) {
  Generator generator(1);
  int taken = 0;
  for (int i = 0; i < 3000; ++i) {
    const Json document = generator.matrix();
    const std::vector<std::string> errors = schema::validate(matrix_schema(), document);
    if (!errors.empty()) {
      // Two keys that go together nowhere.
      EXPECT_TRUE(contains(errors[0], "is like {\"required\"")) << errors[0] << "\n" << document.dump(1);
      EXPECT_NE(refusal_of(document.dump(1)), "") << document.dump(1);
      continue;
    }
    const std::string refusal = refusal_of(document.dump(1));
    taken += refusal.empty() ? 1 : 0;
    EXPECT_TRUE(refusal.empty() || is_beyond_a_schema(refusal)) << refusal << "\n" << document.dump(1);
  }
  EXPECT_GT(taken, 1000);
}

TEST(MatrixSchema, WhatItRefusesIsRefused) {
  Generator generator(2);
  int refused = 0;
  for (int i = 0; i < 10000; ++i) {
    Json document = generator.matrix();
    generator.spoil(document);
    const std::vector<std::string> errors = schema::validate(matrix_schema(), document);
    if (errors.empty()) continue;
    ++refused;
    EXPECT_NE(refusal_of(document.dump(1)), "") << errors[0] << "\n" << document.dump(1);
  }
  EXPECT_GT(refused, 2000);
}

TEST(MatrixSchema, TheConfigurationsAreTakenWithoutAWarning) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(MONGO_SOURCE_DIR) / "configs")) {
    if (entry.path().extension() != ".yaml") continue;
    ++files;
    const Matrix matrix = read_matrix(entry.path());
    EXPECT_EQ(matrix.warnings, std::vector<std::string>{}) << entry.path();
    for (const MatrixCell& cell : matrix.cells) {
      EXPECT_TRUE(cell.request.device.starts_with("loop:")) << entry.path();
      EXPECT_FALSE(cell.request.destroy) << entry.path();
    }
    // All that it says is in what was understood of it.
    const std::string rewritten = write_matrix(read_matrix_document(YamlDocument(matrix.text, "again")));
    auto before = said_in_matrix(matrix.text);
    before.insert("repeats=" + std::to_string(matrix.repeats));
    auto after = said_in_matrix(rewritten);
    if (said_in_matrix(matrix.text).count("repeats=" + std::to_string(matrix.repeats)) == 1) {
      after.insert("repeats=" + std::to_string(matrix.repeats));
    }
    after.erase("defaults/");
    EXPECT_EQ(before, after) << entry.path();
  }
  EXPECT_GE(files, 7);
}

}  // namespace
}  // namespace mongo
