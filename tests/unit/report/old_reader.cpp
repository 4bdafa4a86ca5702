#include "tests/unit/report/old_reader.h"

#include <regex>
#include <sstream>

namespace mongo::old_reader {
namespace {

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) out.push_back(line);
  return out;
}

std::string first_word(const std::string& line) { return line.substr(0, line.find_first_of(" =:")); }

/// What stands after the mark, up to the next blank.
std::string value_after(const std::string& line, const std::string& mark) {
  const std::size_t at = line.find(mark);
  if (at == std::string::npos) return "";
  const std::size_t begin = line.find_first_not_of(" \t", at + mark.size());
  if (begin == std::string::npos) return "";
  return line.substr(begin, line.find_first_of(" ,\t", begin) - begin);
}

bool is_phase(const std::string& word) {
  for (const char* label : {"Create", "Copy", "Slinks", "Read", "Stats", "Rename", "Delete"}) {
    if (word == label) return true;
  }
  return false;
}

}  // namespace

std::vector<Figures> read_log(const std::string& text) {
  std::vector<Figures> blocks;
  const std::regex phase_line("\\*+ Phase \\d+: (\\w+) +files of median size (\\d+) bytes \\((\\d+) processes\\) \\*+");
  std::string phase;
  int repetition = 0;
  // The old tool wrote no newline after the last line of a block.
  std::string separated = text;
  for (std::size_t at = 0; (at = separated.find("*FILESYSTEM=", at)) != std::string::npos;) separated[at] = '\n';
  for (const std::string& line : lines(separated)) {
    const std::string word = first_word(line);
    if (word == "FILESYSTEM") {
      blocks.push_back({{"filesystem", value_after(line, "=")}});
      phase.clear();
    }
    if (blocks.empty()) continue;
    Figures& block = blocks.back();
    std::smatch match;
    if (line.starts_with("***") && std::regex_match(line, match, phase_line)) {
      phase = match[1];
      block["base_size"] = match[2];
      block["processes"] = match[3];
      repetition = 0;
    } else if (is_phase(word)) {
      block[word + "." + std::to_string(++repetition)] = value_after(line, ":");
    } else if (word == "total") {
      block[phase] = value_after(line, "time:");
    } else if (word == "Used") {
      block[phase + ".df"] = value_after(line, ":");
    } else if (line.starts_with("Total dirs")) {
      block[phase + ".dirs"] = value_after(line, ":");
    } else if (line.starts_with("Total files")) {
      block[phase + ".files"] = value_after(line, ":");
    } else if (line.starts_with("Total fragments")) {
      block[phase + ".fragments"] = value_after(line, ":");
    } else if (word == "Fragments") {
      block[phase + ".ratio"] = value_after(line, ":");
    }
  }
  return blocks;
}

std::vector<Figures> read_tbl(const std::string& text) {
  std::vector<Figures> blocks;
  std::string phase;
  for (const std::string& line : lines(text)) {
    const std::string word = first_word(line);
    if (word == "MONGO_SINGLE_PROCESS") blocks.emplace_back();
    if (blocks.empty()) continue;
    Figures& block = blocks.back();
    if (word == "files" || word == "base_size" || word == "dirs") block[word] = value_after(line, "=");
    if (word == "FSYS") block["filesystem"] = value_after(line, "=");
    if (is_phase(word)) {
      phase = word;
      block[word] = value_after(line, ":");
    }
    if (word == "Fragm.") block[phase + ".ratio"] = value_after(line, ":");
    if (word == "df") block[phase + ".df"] = value_after(line, ":");
  }
  return blocks;
}

std::vector<Figures> read_table(const std::string& text) {
  std::vector<Figures> blocks;
  std::vector<std::string> headings;
  const auto columns = [](const std::string& line) {
    std::vector<std::string> out;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, '\t');) out.push_back(cell);
    return out;
  };
  for (const std::string& line : lines(text)) {
    if (line.starts_with("MONGO_SINGLE_PROCESS")) blocks.emplace_back();
    if (blocks.empty()) continue;
    Figures& block = blocks.back();
    if (line.starts_with("  FILESYSTEM=")) block["filesystem"] = value_after(line, "=");
    if (line.starts_with("  parameters:")) {
      for (const char* key : {"files", "base_size", "dirs"}) block[key] = value_after(line, std::string(key) + "=");
    }
    if (line.starts_with("Create\t")) headings = columns(line);
    if (!line.empty() && (line[0] == '-' || (line[0] >= '0' && line[0] <= '9')) &&
        line.find('\t') != std::string::npos) {
      const std::vector<std::string> cells = columns(line);
      for (std::size_t i = 0; i < cells.size() && i < headings.size(); ++i) block[headings[i]] = cells[i];
    }
    if (line.find("after create") != std::string::npos) block["create.df"] = value_after(line, "=");
    if (line.find("after copy") != std::string::npos) block["copy.df"] = value_after(line, "=");
  }
  return blocks;
}

}  // namespace mongo::old_reader
