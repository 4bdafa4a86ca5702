// ext2, ext3 and ext4. Options: mke2fs(8) and ext4(5), e2fsprogs 1.47.
#include <cstdlib>
#include <sstream>

#include "fsdrivers/driver.h"

namespace mongo::fsdrivers::driver_ext {
namespace {

/// Where the E is in "-E x", "-Ex", and behind letters that take no value: "-jE x"; npos in other words.
std::size_t extended_letter(const std::string& word) {
  const std::size_t letter = word.starts_with('-') ? word.find_first_not_of("cDjK", 1) : std::string::npos;
  return letter != std::string::npos && word[letter] == 'E' ? letter : std::string::npos;
}

/// ext4 writes its inode tables and journal in the background after the first mount unless told otherwise: two runs
/// would differ by how much of that fell into a phase. mke2fs takes only the last -E, so a -E of the user's is joined,
/// and wins where it speaks. ext2 and ext3 have no such tables: mke2fs would leave them to the kernel with
/// uninit_bg or metadata_csum only, and with these the kernel does not mount as ext2 or ext3.
void disable_lazy_init(std::vector<std::string>& options) {
  std::string extended;
  for (std::size_t i = 0; i < options.size();) {
    const std::size_t letter = extended_letter(options[i]);
    if (letter == std::string::npos) {
      ++i;
      continue;
    }
    const auto here = options.begin() + static_cast<std::ptrdiff_t>(i);
    std::string value = options[i].substr(letter + 1);
    if (value.empty() && i + 1 < options.size()) {
      value = options[i + 1];
      options.erase(here + 1);
    }
    extended += (extended.empty() ? "" : ",") + value;
    if (letter == 1) {
      options.erase(here);
    } else {
      options[i++].resize(letter);
    }
  }
  for (const char* name : {"lazy_itable_init", "lazy_journal_init"}) {
    if (extended.find(name) == std::string::npos) {
      extended += (extended.empty() ? "" : ",") + std::string(name) + "=0";
    }
  }
  options.insert(options.begin(), {"-E", extended});
}

/// Of repeated words mke2fs takes the last for the tables; a journal that was lazy once stays it.
bool is_lazy(const std::vector<std::string>& argv, bool has_lazy_tables) {
  std::string extended;
  for (std::size_t i = 0; i < argv.size(); ++i) {
    const std::size_t letter = extended_letter(argv[i]);
    if (letter == std::string::npos) continue;
    extended = argv[i].substr(letter + 1);
    if (extended.empty() && i + 1 < argv.size()) extended = argv[++i];
  }
  bool tables = true, journal = false;  // what mke2fs does when it is told nothing
  std::istringstream words(extended);
  for (std::string word; std::getline(words, word, ',');) {
    const std::size_t equals = word.find('=');
    // As mke2fs reads it: without a value, or with a number other than 0.
    const bool on = equals == std::string::npos || std::strtoul(word.c_str() + equals + 1, nullptr, 0) != 0;
    const std::string name = word.substr(0, equals);
    if (name == "lazy_itable_init") tables = on;
    if (name == "lazy_journal_init") journal = journal || on;
  }
  return (tables && has_lazy_tables) || journal;
}
std::optional<bool> lazy_tables_or_journal(const std::vector<std::string>& argv) { return is_lazy(argv, true); }
std::optional<bool> lazy_journal(const std::vector<std::string>& argv) { return is_lazy(argv, false); }

std::vector<std::string> format(const char* type, const FormatRequest& request) {
  // -F: on a device without partitions mke2fs would ask on a terminal. The guard has looked before.
  std::vector<std::string> argv{std::string("mkfs.") + type, "-F", "-q"};
  std::vector<std::string> options = request.options;
  if (std::string_view(type) == "ext4") disable_lazy_init(options);
  argv.insert(argv.end(), options.begin(), options.end());
  // Last, so that they win: by them this tool knows its own work.
  argv.insert(argv.end(), {"-L", std::string(label), "-U", request.uuid, request.device});
  return argv;
}

FilesystemDriver driver(const char* type, const char* summary,
                        std::vector<std::string> (*format_argv)(const FormatRequest&)) {
  FilesystemDriver driver;
  driver.name = driver.kernel_type = type;
  driver.summary = summary;
  driver.programs = {{std::string("mkfs.") + type, "e2fsprogs", "e2fsprogs"}};
  driver.format_argv = format_argv;
  // Not -t and -r: what is made has to be the file system of that name, with a label and a UUID.
  driver.mkfs_options = {"-b SIZE",   "-c",         "-C SIZE",  "-D",         "-e BEHAVIOR", "-E OPTIONS",
                         "-g BLOCKS", "-G GROUPS",  "-i BYTES", "-I SIZE",    "-j",          "-J OPTIONS",
                         "-K",        "-m PERCENT", "-N COUNT", "-o CREATOR", "-O FEATURES", "-T USAGE"};
  // device: the journal elsewhere. journal_dev, which is feature_i3 too: a journal instead of a file system. offset:
  // not at the beginning of the device, where it would be mounted from.
  driver.refused_mkfs_suboptions = {"device", "journal_dev", "feature_i3", "offset"};
  driver.lazy_initialisation = std::string_view(type) == "ext4" ? lazy_tables_or_journal : lazy_journal;
  driver.version_argv = {std::string("mkfs.") + type, "-V"};
  return driver;
}

}  // namespace

std::vector<FilesystemDriver> entries() {
  return {
      driver("ext2", "second extended file system, no journal",
             [](const FormatRequest& r) { return format("ext2", r); }),
      driver("ext3", "ext2 with a journal", [](const FormatRequest& r) { return format("ext3", r); }),
      driver("ext4", "fourth extended file system", [](const FormatRequest& r) { return format("ext4", r); }),
  };
}

}  // namespace mongo::fsdrivers::driver_ext
