#pragma once

#include <map>
#include <string>
#include <utility>

#include "harness/plan/matrix_document.h"
#include "harness/plan/yaml_document.h"

namespace mongo {

/// Reads and checks the values of one document.
class MatrixValueReader {
 public:
  explicit MatrixValueReader(const YamlDocument& yaml) : yaml_(yaml) {}

  /// Throws UsageError with the place in the file. `key` is an index into matrix_keys().
  MatrixValue read(std::size_t key, const YamlNode& node, YamlPlace key_place);

 private:
  /// MatrixValue::same of a text; throws what a run would answer to it.
  static std::string check(const MatrixKey& key, const std::string& text);

  const YamlDocument& yaml_;
  std::map<std::pair<std::size_t, std::string>, std::string>
      known_;  // texts that were looked at: a file may repeat much
  std::map<std::pair<std::size_t, std::string>, int> numbers_;
};

/// The value that means nothing is said: what RunRequest has by itself, as MatrixValue::same. Empty where there is
/// none.
std::string unsaid_matrix_value(const MatrixKey& key);

/// "KEY: ", and the message without a key that it may begin with.
std::string about_key(const std::string& key, const std::string& message);

}  // namespace mongo
