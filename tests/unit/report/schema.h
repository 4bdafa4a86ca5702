#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace mongo::schema {

using Json = nlohmann::ordered_json;

/// What is wrong with the value, "PLACE: REASON" each. Knows the keywords that the schemas in configs/ use; any other
/// is reported as an error too, so that a schema cannot rely on one that is not checked.
std::vector<std::string> validate(const Json& schema, const Json& value);

/// PLACE/NAME.
std::string below(const std::string& place, const std::string& name);

/// The fields that the schema describes, as paths such as /passes/phases/seconds, arrays passed through.
std::set<std::string> described_fields(const Json& schema);

/// The fields of a value, written in the same way.
std::set<std::string> fields(const Json& value);

}  // namespace mongo::schema
