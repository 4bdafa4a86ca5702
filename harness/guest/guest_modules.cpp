#include "harness/guest/guest_modules.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace mongo {
namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// "kernel/fs/f2fs/f2fs.ko.xz" is f2fs; the kernel takes - and _ for the same.
std::string module_name(const std::string& file) {
  std::string name = file.substr(file.rfind('/') + 1);
  name = name.substr(0, name.find(".ko"));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace

std::string GuestModules::read(const std::string& name) const {
  std::ifstream in(folder_ + "/" + name, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool GuestModules::known() const { return !read("modules.builtin").empty(); }

bool GuestModules::built_in(const std::string& filesystem) const {
  // MODULE.KEY=VALUE, each with a NUL at its end. A file system's module has the alias that mount(2) asks for.
  std::istringstream in(read("modules.builtin.modinfo"));
  for (std::string entry; std::getline(in, entry, '\0');) {
    if (entry.ends_with(".alias=fs-" + filesystem)) return true;
  }
  return false;
}

std::string GuestModules::module_of_alias(const std::string& alias) const {
  std::istringstream in(read("modules.alias"));
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() == 3 && words[0] == "alias" && words[1] == alias) return words[2];
  }
  return "";
}

std::vector<std::string> GuestModules::files_for(const std::string& filesystem) const {
  std::vector<std::string> files;
  const std::string module = built_in(filesystem) ? "" : module_of_alias("fs-" + filesystem);
  if (!module.empty()) add(module, files);
  return files;
}

void GuestModules::add(const std::string& module, std::vector<std::string>& files) const {
  // "softdep f2fs pre: crc32 post: ...": what it asks for by name when it mounts, and would not get without modprobe.
  std::istringstream soft(read("modules.softdep"));
  for (std::string line; std::getline(soft, line);) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() < 4 || words[0] != "softdep" || words[1] != module || words[2] != "pre:") continue;
    for (std::size_t i = 3; i < words.size() && !words[i].ends_with(':'); ++i) {
      const std::string target = module_of_alias(words[i]);
      if (target != module) add(target.empty() ? words[i] : target, files);
    }
  }
  // "FILE: NEEDED NEEDED ...", the first to be loaded at the end of the line.
  std::istringstream in(read("modules.dep"));
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || module_name(line.substr(0, colon)) != module_name(module)) continue;
    std::vector<std::string> needed = words_of(line.substr(colon + 1));
    needed.insert(needed.begin(), line.substr(0, colon));
    std::reverse(needed.begin(), needed.end());
    for (const std::string& file : needed) {
      const std::string path = folder_ + "/" + file;
      if (std::find(files.begin(), files.end(), path) == files.end()) files.push_back(path);
    }
  }
}

}  // namespace mongo
