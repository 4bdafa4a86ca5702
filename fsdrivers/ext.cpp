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
    if (options[i] == "-E" && i + 1 < options.size()) {
      extended += (extended.empty() ? "" : ",") + options[i + 1];
      options.erase(options.begin() + static_cast<std::ptrdiff_t>(i),
                    options.begin() + static_cast<std::ptrdiff_t>(i) + 2);
    } else if (options[i].starts_with("-E") && options[i].size() > 2) {
      extended += (extended.empty() ? "" : ",") + options[i].substr(2);
      options.erase(options.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
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
