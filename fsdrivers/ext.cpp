// ext2, ext3 and ext4. Options: mke2fs(8) and ext4(5), e2fsprogs 1.47.
#include <algorithm>

#include "fsdrivers/driver.h"

namespace mongo::fsdrivers::driver_ext {
namespace {

/// ext4 writes its inode tables and journal in the background after the first mount unless told otherwise: two runs
/// would differ by how much of that fell into a phase. mke2fs takes only the last -E, so a -E of the user's is joined,
/// and wins where it speaks.
void disable_lazy_init(std::vector<std::string>& options) {
  std::string extended;
  for (std::size_t i = 0; i < options.size();) {
    // "-E x", "-Ex", and behind letters that take no value: "-jE x".
    const std::size_t letter =
        options[i].starts_with('-') ? options[i].find_first_not_of("cDjK", 1) : std::string::npos;
    if (letter == std::string::npos || options[i][letter] != 'E') {
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
