#pragma once

#include <map>
#include <string>
#include <vector>

namespace mongo::old_reader {

/// The figures of one block, by name. Numbers are kept as text: "-" is none.
using Figures = std::map<std::string, std::string>;

// Small readers in the manner of the programs that were written for the old tool's files: line by line, by the first
// word, knowing nothing of lines that were added later.

/// The log: "filesystem", "base_size", "processes", "Create" (its total), "Create.1" and so on (its repetitions), and
/// for phases that have them "Create.df", "Create.dirs", "Create.files", "Create.fragments", "Create.ratio".
std::vector<Figures> read_log(const std::string& text);

/// The .tbl file: "files", "base_size", "dirs", "filesystem", "Create" and so on, "Create.ratio", "Create.df".
std::vector<Figures> read_tbl(const std::string& text);

/// The _table file: "filesystem", "files", "base_size", "dirs", a time under each heading, "create.df", "copy.df".
std::vector<Figures> read_table(const std::string& text);

}  // namespace mongo::old_reader
