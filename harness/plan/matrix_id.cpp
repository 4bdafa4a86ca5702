#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string_view>

#include "harness/plan/matrix_cells.h"
#include "harness/plan/matrix_value.h"

namespace mongo {
namespace {

constexpr std::size_t longest_readable = 72;  // what follows is in the hash only

// What is read first, before the rest and the device. phases and repetitions are last: they are long, and often the
// same.
constexpr const char* first_read[] = {"profile", "mkfs_options", "mount_options", "cache", "sync", "content"};
constexpr const char* last_read[] = {"device", "phases", "repetitions"};
// In the hash only: said already, or of no influence on the figures.
constexpr const char* unread[] = {"filesystem", "processes", "options", "mount_point", "phase_timeout", "destroy"};

/// Indices into matrix_keys() in the order in which their values are in an id.
std::vector<std::size_t> reading_order() {
  std::vector<std::size_t> order, rest, last;
  std::set<std::size_t> placed;
  const auto place = [&](const char* name, std::vector<std::size_t>* where) {
    placed.insert(find_matrix_key(name));
    if (where != nullptr) where->push_back(find_matrix_key(name));
  };
  for (const char* name : first_read) place(name, &order);
  for (const char* name : last_read) place(name, &last);
  for (const char* name : unread) place(name, nullptr);
  for (std::size_t key = 0; key < matrix_keys().size(); ++key) {
    if (placed.count(key) == 0) order.push_back(key);
  }
  order.insert(order.end(), last.begin(), last.end());
  return order;
}

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

/// Letters, digits, '.', and single '-' between them; ^feature, as mke2fs writes it, becomes no-feature.
std::string clean(std::string_view text) {
  std::string result;
  bool gap = false;
  for (const char c : text) {
    if (c == '^') {
      if (!result.empty()) result += '-';
      result += "no";
      gap = true;
    } else if (is_letter_or_digit(c) || (c == '.' && !result.empty() && !gap)) {
      if (gap && !result.empty()) result += '-';
      result += c;
      gap = false;
    } else {
      gap = true;
    }
  }
  return result;
}

/// FNV-1a with 64 bits, its bits mixed once more (the last step of SplitMix64).
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

/// The part of the id for one parameter: short where the value speaks for itself.
std::string readable(const MatrixKey& key, const MatrixValue& value) {
  if (key.name == "profile" || key.name == "environment" || key.name == "mkfs_options" || key.name == "mount_options" ||
      key.name == "content") {
    return clean(value.text);
  }
  if (key.name == "device") return clean(value.text.substr(value.text.starts_with("/dev/") ? 5 : 0));
  if (value.text == "true") return clean(key.name);
  if (value.text == "false") return "no-" + clean(key.name);
  return clean(key.name + "-" + value.text);
}

}  // namespace

std::string cell_id(const PlannedCell& complete, std::size_t hash_digits) {
  static const std::vector<std::size_t> order = reading_order();
  const auto is_said = [&](std::size_t key) {
    const MatrixValue* value = complete.values[key];
    return value != nullptr && value->same != unsaid_matrix_value(matrix_keys()[key]);
  };
  const auto text = [&](const char* name) {
    const MatrixValue* value = complete.values[find_matrix_key(name)];
    return value == nullptr ? std::string() : value->text;
  };
  std::string id = clean(text("filesystem")) + "-p" + (text("processes").empty() ? "1" : text("processes"));
  for (const std::size_t key : order) {
    const std::string part = is_said(key) ? readable(matrix_keys()[key], *complete.values[key]) : "";
    if (!part.empty()) id += "-" + part;
  }
  if (id.size() > longest_readable) id.resize(id.find_last_not_of("-.", longest_readable - 1) + 1);
  std::string all;
  for (std::size_t key = 0; key < complete.values.size(); ++key) {
    if (is_said(key)) all += fmt::format("{}={}\n\n", matrix_keys()[key].name, complete.values[key]->same);
  }
  return fmt::format("{}-{}", id, fmt::format("{:016x}", hash_of(all)).substr(0, hash_digits));
}

}  // namespace mongo
