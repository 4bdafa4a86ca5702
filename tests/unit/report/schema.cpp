#include "tests/unit/report/schema.h"

#include <algorithm>
#include <map>
#include <regex>

namespace mongo::schema {
namespace {

const Json& resolve(const Json& root, const Json& schema) {
  if (!schema.contains("$ref")) return schema;
  const std::string reference = schema.at("$ref").get<std::string>();
  return root.at(Json::json_pointer(reference.substr(1)));  // "#/$defs/x"
}

bool is_type(const std::string& type, const Json& value) {
  if (type == "null") return value.is_null();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  return type == "boolean" && value.is_boolean();
}

/// Whether a part of the text matches, as in JSON Schema.
bool matches(const std::string& pattern, const std::string& text) {
  static std::map<std::string, std::regex> compiled;
  const auto [at, is_new] = compiled.try_emplace(pattern);
  if (is_new) at->second = std::regex(pattern);
  return std::regex_search(text, at->second);
}

class Validator {
 public:
  explicit Validator(const Json& root) : root_(root) {}

  void check(const Json& schema, const Json& value, const std::string& place) {
    for (const auto& [keyword, argument] : schema.items()) check_keyword(schema, keyword, argument, value, place);
  }
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  void error(const std::string& place, const std::string& reason) { errors_.push_back(place + ": " + reason); }

  void check_keyword(const Json& schema, const std::string& keyword, const Json& argument, const Json& value,
                     const std::string& place) {
    if (keyword == "$schema" || keyword == "title" || keyword == "description" || keyword == "$defs" ||
        keyword == "examples") {
      return;
    }
    if (keyword == "$ref") return check(resolve(root_, schema), value, place);
    if (keyword == "type") {
      const Json types = argument.is_array() ? argument : Json::array({argument});
      const bool any = std::any_of(types.begin(), types.end(), [&](const Json& t) { return is_type(t, value); });
      if (!any) error(place, "is not of type " + argument.dump());
    } else if (keyword == "enum") {
      if (std::find(argument.begin(), argument.end(), value) == argument.end())
        error(place, "not in " + argument.dump());
    } else if (keyword == "const") {
      if (value != argument) error(place, "is not " + argument.dump());
    } else if (keyword == "minimum") {
      if (value.is_number() && value < argument) error(place, "is below " + argument.dump());
    } else if (keyword == "maximum") {
      if (value.is_number() && value > argument) error(place, "is above " + argument.dump());
    } else if (keyword == "minItems") {
      if (value.is_array() && value.size() < argument.get<std::size_t>()) error(place, "has too few items");
    } else if (keyword == "minLength") {
      if (value.is_string() && value.get<std::string>().size() < argument.get<std::size_t>())
        error(place, "is too short");
    } else if (keyword == "maxItems") {
      if (value.is_array() && value.size() > argument.get<std::size_t>()) error(place, "has too many items");
    } else if (keyword == "items") {
      for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) {
        check(argument, value[i], below(place, std::to_string(i)));
      }
    } else if (keyword == "required") {
      for (const Json& key : argument) {
        if (value.is_object() && !value.contains(key.get<std::string>())) error(place, "lacks " + key.dump());
      }
    } else if (keyword == "properties") {
      for (const auto& [key, property] : argument.items()) {
        if (value.is_object() && value.contains(key)) check(property, value.at(key), below(place, key));
      }
    } else if (keyword == "additionalProperties" && argument == false) {
      for (const std::string& key : other_keys(schema, value)) error(place, "has the unknown field " + key);
    } else if (keyword == "additionalProperties" && argument.is_object()) {
      for (const std::string& key : other_keys(schema, value)) check(argument, value.at(key), below(place, key));
    } else if (keyword == "propertyNames") {
      if (!value.is_object()) return;
      for (const auto& [key, ignored] : value.items()) check(argument, Json(key), below(place, key));
    } else if (keyword == "minProperties") {
      if (value.is_object() && value.size() < argument.get<std::size_t>()) error(place, "has too few fields");
    } else if (keyword == "maxLength") {
      if (value.is_string() && value.get<std::string>().size() > argument.get<std::size_t>())
        error(place, "is too long");
    } else if (keyword == "pattern") {
      if (value.is_string() && !matches(argument.get<std::string>(), value.get<std::string>()))
        error(place, "is not like " + argument.dump());
    } else if (keyword == "anyOf") {
      if (std::none_of(argument.begin(), argument.end(), [&](const Json& one) { return holds(one, value, place); }))
        error(place, "is like none of " + argument.dump());
    } else if (keyword == "allOf") {
      for (const Json& one : argument) check(one, value, place);
    } else if (keyword == "not") {
      if (holds(argument, value, place)) error(place, "is like " + argument.dump());
    } else if (keyword == "if") {
      const char* branch = holds(argument, value, place) ? "then" : "else";
      if (schema.contains(branch)) check(schema.at(branch), value, place);
    } else if (keyword != "then" && keyword != "else") {
      error(place, "the schema uses the keyword " + keyword + ", which this test does not know");
    }
  }

  bool holds(const Json& schema, const Json& value, const std::string& place) const {
    Validator validator(root_);
    validator.check(schema, value, place);
    return validator.errors().empty();
  }

  static std::vector<std::string> other_keys(const Json& schema, const Json& value) {
    std::vector<std::string> keys;
    if (!value.is_object()) return keys;
    for (const auto& [key, ignored] : value.items()) {
      if (!schema.contains("properties") || !schema.at("properties").contains(key)) keys.push_back(key);
    }
    return keys;
  }

  const Json& root_;
  std::vector<std::string> errors_;
};

void describe(const Json& root, const Json& part, const std::string& place, std::set<std::string>& out) {
  const Json& schema = resolve(root, part);
  if (schema.contains("items")) describe(root, schema.at("items"), place, out);
  if (!schema.contains("properties")) return;
  for (const auto& [key, property] : schema.at("properties").items()) {
    out.insert(below(place, key));
    describe(root, property, below(place, key), out);
  }
}

void collect(const Json& value, const std::string& place, std::set<std::string>& out) {
  if (value.is_array()) {
    for (const Json& item : value) collect(item, place, out);
  }
  if (!value.is_object()) return;
  for (const auto& [key, field] : value.items()) {
    out.insert(below(place, key));
    collect(field, below(place, key), out);
  }
}

}  // namespace

std::string below(const std::string& place, const std::string& name) { return place + "/" + name; }

std::vector<std::string> validate(const Json& schema, const Json& value) {
  Validator validator(schema);
  validator.check(schema, value, "");
  return validator.errors();
}

std::set<std::string> described_fields(const Json& schema) {
  std::set<std::string> out;
  describe(schema, schema, "", out);
  return out;
}

std::set<std::string> fields(const Json& value) {
  std::set<std::string> out;
  collect(value, "", out);
  return out;
}

}  // namespace mongo::schema
