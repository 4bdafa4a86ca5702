#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/plan/run_options.h"
#include "harness/plan/yaml_document.h"

namespace mongo {

/// A key that can be given to the runs of a matrix.
struct MatrixKey {
  std::string name;                   // "mkfs_options"
  const RunOption* option = nullptr;  // null: "options", which names an option set
};

/// "options" first, then those of run_options() that have a key.
const std::vector<MatrixKey>& matrix_keys();
inline constexpr std::size_t option_set_key = 0;
/// The number of keys when there is none of that name.
std::size_t find_matrix_key(const std::string& name);

struct MatrixValue {
  std::string text;  // as RunRequest takes it
  std::string same;  // equal for all values of the key that mean the same: 10M and 10MiB
  int number = 0;    // of `same` among those of the document: equal where key and `same` are
  YamlPlace place;
};

struct MatrixSetting {
  std::size_t key;
  YamlPlace place;
  MatrixValue value;
};

/// What one map says about runs.
struct MatrixEntry {
  YamlPlace place;
  std::vector<MatrixSetting> settings;  // no key twice
};

struct MatrixAxis {
  std::size_t key;
  YamlPlace place;
  std::vector<MatrixValue> values;  // at least one, none twice
};

/// A matrix file as it was understood: each value is one that a run would take, each name one that is known. What they
/// make together is not looked at here.
struct MatrixDocument {
  MatrixEntry defaults;  // also what stands beside them at the top: device, mount_point
  std::vector<MatrixAxis> axes;
  std::map<std::string, MatrixEntry> option_sets;
  std::vector<MatrixEntry> exclude, include;
  int repeats = 1;
  YamlPlace repeats_place;
  std::vector<std::string> warnings;
};

/// Throws UsageError with the place in the file.
MatrixDocument read_matrix_document(const YamlDocument& yaml);

/// Replaces the names of arguments and options in a message about a run by the keys of a matrix.
std::string with_matrix_keys(const std::string& message);

}  // namespace mongo
