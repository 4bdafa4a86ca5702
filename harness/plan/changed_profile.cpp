#include "harness/plan/changed_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "harness/core/byte_size.h"
#include "harness/core/errors.h"
#include "harness/plan/words.h"
#include "phases/support/content.h"
#include "phases/support/tree.h"

namespace mongo {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 50;
constexpr std::uint64_t most_count = 999'999'999;
constexpr double most_files = 0x1p31;  // of a tree; see phases/support/tree.h

std::uint64_t parse_size(const ProfileNumber& number, const std::string& text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.size() > 1 && text[0] == '0' && is_digit(text[1])) {
    throw UsageError(fmt::format("--{} '{}': it begins with 0. Sizes are decimal numbers", number.name, text));
  }
  if (text.find('.') != std::string::npos && is_digit(text.back())) {
    throw UsageError(
        fmt::format("--{} '{}': bytes are whole numbers. A fraction needs a suffix, as in 1.5MiB", number.name, text));
  }
  std::uint64_t bytes = 0;
  try {
    bytes = parse_byte_size(text).bytes;
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--{}: {}", number.name, error.what()));
  }
  if (bytes < number.least || bytes > number.most) {
    throw UsageError(fmt::format("--{} '{}' is {} bytes. It must be from {} to {}", number.name, text, bytes,
                                 format_exact(ByteSize{number.least}), format_exact(ByteSize{number.most})));
  }
  return bytes;
}

/// For each median the bytes a tree that the profile has for it, else those of its last pass.
std::vector<phases::TreeParameters> passes_of(const Profile& profile, const std::vector<std::uint64_t>& medians) {
  std::vector<phases::TreeParameters> passes;
  for (const std::uint64_t median : medians) {
    const auto same = std::find_if(profile.passes.begin(), profile.passes.end(),
                                   [&](const auto& tree) { return tree.median_file_size == median; });
    passes.push_back(same == profile.passes.end() ? profile.passes.back() : *same);
    passes.back().median_file_size = median;
  }
  return passes;
}

/// Throws for trees that cannot be drawn, without counting their files, which may take long.
void check_tree(const phases::TreeParameters& tree) {
  try {
    const phases::Distribution files("--median-file-sizes", tree.median_file_size, "--max-file-size",
                                     tree.max_file_size);
    phases::Distribution("--median-dir-files", tree.median_dir_files, "--max-dir-files", tree.max_dir_files);
    phases::Distribution("--median-dir-branching", tree.median_dir_branching, "--max-dir-branching",
                         tree.max_dir_branching);
    if (files.largest() == 0) {
      throw UsageError(
          fmt::format("--max-file-size {} with --median-file-sizes {}: every file would be empty. A larger "
                      "--max-file-size is needed",
                      tree.max_file_size, tree.median_file_size));
    }
    if (static_cast<double>(tree.bytes_to_consume) > files.mean() * most_files) {
      throw UsageError(
          fmt::format("--bytes-per-tree {} with --median-file-sizes {}: more than 2147483648 files would be "
                      "needed. Give fewer bytes or larger files",
                      tree.bytes_to_consume, tree.median_file_size));
    }
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

using Member = std::uint64_t phases::TreeParameters::*;

/// Sets a number in all passes, and says whether that changed anything.
bool set(std::vector<phases::TreeParameters>& passes, Member member, std::uint64_t value) {
  bool changed = false;
  for (phases::TreeParameters& tree : passes) {
    changed = changed || tree.*member != value;
    tree.*member = value;
  }
  return changed;
}

Member tree_member(const ProfileNumber& number) {
  if (number.member == &RunRequest::bytes_per_tree) return &phases::TreeParameters::bytes_to_consume;
  if (number.member == &RunRequest::max_file_size) return &phases::TreeParameters::max_file_size;
  if (number.member == &RunRequest::median_dir_files) return &phases::TreeParameters::median_dir_files;
  if (number.member == &RunRequest::max_dir_files) return &phases::TreeParameters::max_dir_files;
  if (number.member == &RunRequest::median_dir_branching) return &phases::TreeParameters::median_dir_branching;
  return &phases::TreeParameters::max_dir_branching;
}

bool same_medians(const Profile& profile, const std::vector<std::uint64_t>& medians) {
  return std::equal(profile.passes.begin(), profile.passes.end(), medians.begin(), medians.end(),
                    [](const auto& tree, std::uint64_t median) { return tree.median_file_size == median; });
}

}  // namespace

const std::vector<ProfileNumber>& profile_numbers() {
  static const std::vector<ProfileNumber> all{
      {"median-file-sizes", &RunRequest::median_file_sizes, 0, most_bytes, true, true},
      {"bytes-per-tree", &RunRequest::bytes_per_tree, 1, most_bytes, true, false},
      {"max-file-size", &RunRequest::max_file_size, 1, most_bytes, true, false},
      {"median-dir-files", &RunRequest::median_dir_files, 0, most_count, false, false},
      {"max-dir-files", &RunRequest::max_dir_files, 1, most_count, false, false},
      {"median-dir-branching", &RunRequest::median_dir_branching, 0, most_count, false, false},
      {"max-dir-branching", &RunRequest::max_dir_branching, 1, most_count, false, false},
      {"write-size", &RunRequest::write_size, phases::Content::smallest_write_buffer,
       phases::Content::largest_write_buffer, true, false},
  };
  return all;
}

std::vector<std::uint64_t> parse_profile_number(const ProfileNumber& number, const std::string& text) {
  const std::string option = fmt::format("--{}", number.name);
  if (!number.is_size) {
    return {static_cast<std::uint64_t>(
        parse_count(text, option, static_cast<int>(number.least), static_cast<int>(number.most)))};
  }
  if (!number.is_list) return {parse_size(number, text)};
  std::vector<std::uint64_t> values;
  for (const std::string& part : split_commas(text)) {
    const std::uint64_t value = parse_size(number, part);
    if (std::find(values.begin(), values.end(), value) != values.end()) {
      throw UsageError(fmt::format("{} '{}': {} bytes are named twice", option, text, value));
    }
    if (values.size() == most_passes) {
      throw UsageError(
          fmt::format("{}: more than {} sizes. The device is formatted anew for each", option, most_passes));
    }
    values.push_back(value);
  }
  return values;
}

Profile changed_profile(const Profile& profile, const RunRequest& request) {
  Profile result = profile;
  std::vector<std::string> changes;
  bool any = false;
  for (const ProfileNumber& number : profile_numbers()) {
    const std::optional<std::string>& text = request.*number.member;
    if (!text) continue;
    any = true;
    const std::vector<std::uint64_t> values = parse_profile_number(number, *text);
    bool changed = false;
    if (number.is_list) {
      changed = !same_medians(profile, values);
      result.passes = passes_of(profile, values);
    } else if (number.member == &RunRequest::write_size) {
      changed = result.write_buffer_size != values[0];
      result.write_buffer_size = values[0];
    } else {
      changed = set(result.passes, tree_member(number), values[0]);
    }
    if (changed) changes.push_back(fmt::format("{} {}", number.name, fmt::join(values, ",")));
  }
  if (any) std::for_each(result.passes.begin(), result.passes.end(), check_tree);
  if (!changes.empty()) result.name += fmt::format(" ({})", fmt::join(changes, "; "));
  return result;
}

}  // namespace mongo
