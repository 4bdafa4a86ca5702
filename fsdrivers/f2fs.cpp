// F2FS on one device. Options: mkfs.f2fs(8), f2fs-tools 1.15, the first that sets a UUID.
#include "fsdrivers/driver.h"

namespace mongo::fsdrivers::driver_f2fs {

std::vector<FilesystemDriver> entries() {
  FilesystemDriver driver;
  driver.name = driver.kernel_type = "f2fs";
  driver.summary = "F2FS, the flash-friendly file system, on one device";
  driver.programs = {{"mkfs.f2fs", "f2fs-tools", "f2fs-tools"}};
  // -f: mkfs.f2fs refuses where it sees a file system; the guard has decided that already. Not -q, which is silent
  // about errors too.
  //
  // Nothing is pinned. mkfs discards the device first, as those of ext4, xfs, btrfs and nilfs2 do (-t 0: not). Mounted,
  // F2FS cleans segments (background_gc=on) and discards what was freed (discard) in the background, but only after
  // nothing was asked of it for 5 s (DEF_IDLE_INTERVAL): phases leave it no such time. Both are mount options, and part
  // of F2FS as people use it. Source: is_idle() in fs/f2fs/segment.h and f2fs.h.
  driver.format_argv = [](const FormatRequest& request) {
    std::vector<std::string> argv{"mkfs.f2fs", "-f"};
    argv.insert(argv.end(), request.options.begin(), request.options.end());
    argv.insert(argv.end(), {"-l", std::string(label), "-U", request.uuid, request.device});
    return argv;
  };
  // Not -c: further devices. Not -S: an image in a form of its own. Not -g: a set of options, with a debug level.
  // Of -a and -t it takes anything for a number.
  driver.mkfs_options = {
      "-a 0|1", "-C ENCODING", "-e EXTENSIONS", "-E EXTENSIONS", "-i",           "-m",      "-o PERCENT", "-O FEATURES",
      "-r",     "-R OWNER",    "-s COUNT",      "-t 0|1",        "-T TIMESTAMP", "-w SIZE", "-z COUNT"};
  driver.version_argv = {"mkfs.f2fs", "-V"};
  return {driver};
}

}  // namespace mongo::fsdrivers::driver_f2fs
