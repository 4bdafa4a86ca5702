#include "harness/device/mount_table.h"

#include <sys/sysmacros.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "harness/device/system_files.h"

namespace mongo {

namespace {

// The kernel writes single blanks, and an empty source as two of them in a row.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = line.find(' ', begin);
    fields.push_back(line.substr(begin, end == std::string::npos ? end : end - begin));
    if (end == std::string::npos) return fields;
    begin = end + 1;
  }
}

template <typename Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_line(const std::string& line, MountEntry& entry) {
  const std::vector<std::string> fields = fields_of(line);
  if (fields.size() < 10) return false;
  // Between the mount's options and the dash stand any number of tags such as "shared:1".
  const auto dash = std::find(fields.begin() + 6, fields.end(), "-");
  if (fields.end() - dash < 4) return false;
  const std::size_t colon = fields[2].find(':');
  unsigned major = 0, minor = 0;
  if (colon == std::string::npos || !parse_number(fields[0], entry.id) ||
      !parse_number(std::string_view(fields[2]).substr(0, colon), major) ||
      !parse_number(std::string_view(fields[2]).substr(colon + 1), minor)) {
    return false;
  }
  entry.device = makedev(major, minor);
  entry.root = devio::unescape_octal(fields[3]);
  entry.point = devio::unescape_octal(fields[4]);
  entry.vfs_options = devio::unescape_octal(fields[5]);
  entry.type = devio::unescape_octal(dash[1]);
  entry.source = devio::unescape_octal(dash[2]);
  entry.fs_options = devio::unescape_octal(dash[3]);
  return true;
}

std::vector<std::string> split_options(const std::string& options) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false;
  for (const char c : options) {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted) {
      if (!word.empty()) words.push_back(word);
      word.clear();
    } else {
      word += c;
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

}  // namespace

std::vector<MountEntry> parse_mountinfo(const std::string& text) {
  std::vector<MountEntry> table;
  for (const std::string& line : devio::lines_of(text)) {
    if (line.empty()) continue;
    MountEntry entry;
    if (!parse_line(line, entry)) throw std::invalid_argument(devio::printable(line));
    table.push_back(std::move(entry));
  }
  return table;
}

const MountEntry* mounted_at(const std::vector<MountEntry>& table, const std::string& point) {
  const auto found =
      std::find_if(table.rbegin(), table.rend(), [&](const auto& entry) { return entry.point == point; });
  return found == table.rend() ? nullptr : &*found;
}

const MountEntry* mount_of_path(const std::vector<MountEntry>& table, const std::string& path) {
  const MountEntry* best = nullptr;
  for (const MountEntry& entry : table) {
    const bool holds = entry.point == "/" || path == entry.point || path.starts_with(entry.point + "/");
    if (holds && (best == nullptr || entry.point.size() >= best->point.size())) best = &entry;
  }
  return best;
}

std::string effective_options(const MountEntry& entry) {
  std::vector<std::string> words = split_options(entry.vfs_options);
  for (const std::string& word : split_options(entry.fs_options)) {
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }
  const bool read_only = std::find(words.begin(), words.end(), "ro") != words.end();
  std::string joined;
  for (const std::string& word : words) {
    if (read_only && word == "rw") continue;
    joined += (joined.empty() ? "" : ",") + word;
  }
  return joined;
}

}  // namespace mongo
