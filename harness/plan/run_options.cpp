#include "harness/plan/run_options.h"

#include <fmt/format.h>

namespace mongo {

const std::vector<RunOption>& run_options() {
  static const std::vector<RunOption> all{
      {"FILESYSTEM", "filesystem", "file system to make", &RunRequest::filesystem, ValueForm::name},
      {"DEVICE", "device",
       "block device; or loop:SIZE (a file of the tool's own), loop:PATH (an image file), ram:SIZE (memory); none for "
       "dir",
       &RunRequest::device},
      {"MOUNTPOINT", "mount_point", "empty directory, or one to be made and removed; for dir the existing directory",
       &RunRequest::mount_point},
      {"LOG", "", "name of the result files", &RunRequest::log},
      {"PROCESSES", "processes", fmt::format("processes at work at the same time, 1 to {}", max_processes),
       &RunRequest::processes, ValueForm::count},
      {"--profile", "profile", "classic (default), ltp or smoke", &RunRequest::profile, ValueForm::name},
      {"--phases", "phases", "only these, comma-separated; they run in their usual order", &RunRequest::phases,
       ValueForm::list},
      {"--repetitions", "repetitions", "repetitions of each phase; default: the profile's", &RunRequest::repetitions,
       ValueForm::count},
      {"--mkfs-options", "mkfs_options", "options for mkfs, split into words as a shell would; nothing is expanded",
       &RunRequest::mkfs_options},
      {"--mount-options", "mount_options", "options for mount, comma-separated", &RunRequest::mount_options,
       ValueForm::list},
      {"--results", "", "directory for the result files; default: results", &RunRequest::results},
      {"--cache", "cache",
       "caches before each repetition: warm (default: as they are), drop (drop_caches), remount; for all phases, or as "
       "read=drop,stat=remount",
       &RunRequest::cache, ValueForm::list},
      {"--sync", "sync",
       "each: fsync after each file, inside the time; phase (default): syncfs after each phase, outside it; none",
       &RunRequest::sync, ValueForm::name},
      {"--content", "content", "of the files: random (default; does not compress), letter-a, zero, compressible:PCT",
       &RunRequest::content, ValueForm::name},
      {"--verify", "verify",
       "compare what was created, copied, linked, read and renamed after each phase, outside its time",
       &RunRequest::verify, ValueForm::flag},
      {"--phase-timeout", "phase_timeout", "seconds after which a phase has failed; default: a day",
       &RunRequest::phase_timeout, ValueForm::count},
      {"--environment", "environment",
       "where the phases run: host; uml, a User-mode Linux guest, for file systems that this kernel lacks; auto "
       "(default): host where it can, else uml",
       &RunRequest::environment, ValueForm::name},
      {"--sector-size", "sector_size", "of loop: and ram: devices, 512 (default) to 4096 bytes",
       &RunRequest::sector_size, ValueForm::count},
      {"--sparse", "sparse", "do not allocate the file of loop:SIZE or ram:SIZE beforehand", &RunRequest::sparse,
       ValueForm::flag},
      {"--no-latency", "latency", "do not measure how long each operation takes", &RunRequest::latency, ValueForm::flag,
       true},
      {"--destroy", "destroy", "format although the device holds something that this tool did not make",
       &RunRequest::destroy, ValueForm::flag},
      {"--median-file-sizes", "median_file_sizes",
       "instead of the profile's: comma-separated, e.g. 100,4KiB; one pass each", &RunRequest::median_file_sizes,
       ValueForm::sizes},
      {"--bytes-per-tree", "bytes_per_tree", "instead of the profile's: size of the data of each tree, e.g. 20MiB",
       &RunRequest::bytes_per_tree, ValueForm::size},
      {"--max-file-size", "max_file_size", "instead of the profile's: largest file size aimed at",
       &RunRequest::max_file_size, ValueForm::size},
      {"--median-dir-files", "median_dir_files", "instead of the profile's: half of the directories have fewer files",
       &RunRequest::median_dir_files, ValueForm::count},
      {"--max-dir-files", "max_dir_files", "instead of the profile's: most files of a directory aimed at",
       &RunRequest::max_dir_files, ValueForm::count},
      {"--median-dir-branching", "median_dir_branching",
       "instead of the profile's: half of the directories have fewer places for directories in them",
       &RunRequest::median_dir_branching, ValueForm::count},
      {"--max-dir-branching", "max_dir_branching", "instead of the profile's: most such places aimed at",
       &RunRequest::max_dir_branching, ValueForm::count},
      {"--write-size", "write_size",
       "instead of the profile's: buffer with which files are written, copied and read, 2 bytes to 16MiB",
       &RunRequest::write_size, ValueForm::size},
  };
  return all;
}

void set_member(RunRequest& request, const RunOption& option, const std::string& text) {
  std::visit(
      [&](const auto member) {
        if constexpr (std::is_same_v<decltype(request.*member), bool&>) {
          request.*member = text == "true";
        } else {
          request.*member = text;
        }
      },
      option.member);
}

std::string member_text(const RunRequest& request, const RunOption& option) {
  return std::visit(
      [&](const auto member) -> std::string {
        if constexpr (std::is_same_v<decltype(request.*member), const bool&>) {
          return request.*member ? "true" : "false";
        } else if constexpr (std::is_same_v<decltype(request.*member), const std::optional<std::string>&>) {
          return (request.*member).value_or("");
        } else {
          return request.*member;
        }
      },
      option.member);
}

}  // namespace mongo
