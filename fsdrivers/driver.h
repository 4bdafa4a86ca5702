#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mongo::fsdrivers {

/// An external program that a driver needs, and where people get it.
struct Program {
  std::string name;            // as looked up in PATH, e.g. "mkfs.xfs"
  std::string debian_package;  // Debian and Ubuntu
  std::string fedora_package;
};

/// What mkfs is asked for.
struct FormatRequest {
  std::string device;                // path of the node
  std::string uuid;                  // canonical text form
  std::vector<std::string> options;  // the user's words, as they are
};

/// The label that every file system made by this tool carries.
inline constexpr std::string_view label = "mongo";

/// What the commands about a storage pool are about.
struct PoolRequest {
  std::string pool;                  // its name
  std::string device;                // path of the node
  std::string mount_point;           // absolute
  std::string search;                // for an import: the device, or a folder with nothing but a link to it
  std::vector<std::string> options;  // the user's words for create, as they are
};

/// A file system that is made, mounted and taken away by commands about its pool, and not by mkfs and mount(2).
struct PoolCommands {
  using Argv = std::vector<std::string> (*)(const PoolRequest&);
  /// The pool's name says who made it, as label and UUID do elsewhere.
  std::string (*name)(const std::string& uuid) = nullptr;
  Argv create = nullptr;       // makes it without asking anything, whatever is on the device, and mounts it
  Argv destroy = nullptr;      // unmounts it and takes it away; its labels stay on the device
  Argv export_pool = nullptr;  // unmounts it and lets go of the device
  Argv import_pool = nullptr;  // looks for it in `search` only, and mounts it
  Argv sync = nullptr;         // returns when all that was written is on the device
  Argv properties = nullptr;   // prints "name<TAB>value" lines: what figures depend on
};

/// A file system, as data. A driver executes nothing: the harness does what it says.
/// Each file fsdrivers/NAME.cpp offers `namespace mongo::fsdrivers::driver_NAME { std::vector<FilesystemDriver>
/// entries(); }`.
struct FilesystemDriver {
  std::string name;                                // as given on the command line, e.g. "ext3"
  std::string summary;                             // one line for --help
  std::string kernel_type;                         // as in /proc/filesystems and mount -t
  std::vector<std::string> default_mount_options;  // before the user's
  std::vector<Program> programs;                   // the first is mkfs
  /// argv that makes the file system without asking anything, whatever is on the device. Sets `label` and the UUID.
  std::vector<std::string> (*format_argv)(const FormatRequest&) = nullptr;
  /// What has to be run after mkfs, in this order, before the file system is what format_argv promises. Null: nothing.
  std::vector<std::vector<std::string>> (*after_format)(const FormatRequest&) = nullptr;
  /// What a user may give to mkfs, as it is written there: "-j", "-N COUNT", "--mixed", "--nodesize SIZE"; a second
  /// word says that it takes a value, and with '|' in it, "-h tea|r5", which values there are: for mkfs that takes
  /// another one without an error. Not what this tool sets itself (label, UUID, force, quiet), what makes no file
  /// system, and what names a file or a device: mkfs must touch nothing but the device that was looked at.
  std::vector<std::string> mkfs_options;
  /// Parts of the options' values that are refused for the same reasons, such as "logdev" in "-l size=64m,logdev=x".
  std::vector<std::string> refused_mkfs_suboptions;
  /// Whether such an argv leaves something for later that mkfs could write at once, so that it falls into the phases.
  /// Null: the file system has no such thing.
  std::optional<bool> (*lazy_initialisation)(const std::vector<std::string>& argv) = nullptr;
  /// Regular files in the root of a file system that was just made. They are its own: no phase works on them, and
  /// nothing counts them.
  std::vector<std::string> own_files;
  bool existing_directory = false;        // nothing is formatted or mounted
  std::optional<PoolCommands> pool;       // instead of format_argv
  std::vector<std::string> version_argv;  // prints mkfs's version, on stdout or stderr
};

}  // namespace mongo::fsdrivers
