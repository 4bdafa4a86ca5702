#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "harness/plan/cell.h"

namespace mongo {

/// What can be written as a value.
enum class ValueForm {
  text,   // free
  name,   // one of a list of names, or a name with a number
  list,   // comma-separated names; in a matrix also a YAML list
  count,  // a whole decimal number
  size,   // a number of bytes, as parse_byte_size reads it
  sizes,  // comma-separated sizes; in a matrix also a YAML list
  flag,   // there or not; true or false in a matrix
};

/// Something that can be said about a run: an argument or an option of `mongo run`, a key of a matrix.
struct RunOption {
  using Member = std::variant<std::string RunRequest::*, std::optional<std::string> RunRequest::*, bool RunRequest::*>;

  std::string name;  // "FILESYSTEM", "--mkfs-options"
  std::string key;   // in a matrix: "filesystem", "mkfs_options"; empty: not there
  std::string help;  // one sentence, for --help
  Member member;
  ValueForm form = ValueForm::text;
  bool inverted = false;  // a flag that sets false: --no-latency

  bool is_argument() const { return !name.starts_with('-'); }
};

/// All of them, the arguments first and in their order.
const std::vector<RunOption>& run_options();

/// Sets what the option is about; "true" and "false" for flags, whatever the name of the option says.
void set_member(RunRequest& request, const RunOption& option, const std::string& text);

/// What set_member would set; empty where nothing is set.
std::string member_text(const RunRequest& request, const RunOption& option);

}  // namespace mongo
