// ZFS: a pool on one device. Options: zpool(8), zfs(8), OpenZFS 2 and zfs-fuse 0.7.
#include <algorithm>

#include "fsdrivers/driver.h"

namespace mongo::fsdrivers::driver_zfs {
namespace {

using Words = std::vector<std::string>;

Words create(const PoolRequest& request) {
  // -f: zpool refuses where it sees a file system; the guard has decided that already.
  Words argv{"zpool", "create", "-f"};
  argv.insert(argv.end(), request.options.begin(), request.options.end());
  // OpenZFS compresses since 2.2, zfs-fuse and older OpenZFS do not: they would not be compared on the same work.
  const bool said = std::any_of(request.options.begin(), request.options.end(),
                                [](const std::string& word) { return word.find("compress") != std::string::npos; });
  if (!said) argv.insert(argv.end(), {"-O", "compression=off"});
  // cachefile=none: a pool that a killed run left must not be imported at the next start of the machine.
  argv.insert(argv.end(), {"-o", "cachefile=none", "-m", request.mount_point, request.pool, request.device});
  return argv;
}

}  // namespace

std::vector<FilesystemDriver> entries() {
  FilesystemDriver driver;
  driver.name = driver.kernel_type = "zfs";
  driver.summary = "ZFS, a pool on one device; OpenZFS or zfs-fuse";
  driver.programs = {{"zpool", "zfs-fuse", "zfs-fuse"}, {"zfs", "zfs-fuse", "zfs-fuse"}};
  PoolCommands pool;
  pool.name = [](const std::string& uuid) { return std::string(label) + "-" + uuid; };
  pool.create = create;
  pool.destroy = [](const PoolRequest& request) { return Words{"zpool", "destroy", "-f", request.pool}; };
  pool.export_pool = [](const PoolRequest& request) { return Words{"zpool", "export", request.pool}; };
  pool.import_pool = [](const PoolRequest& request) {
    return Words{"zpool", "import", "-d", request.search, "-o", "cachefile=none", request.pool};
  };
  // Any change of a property waits until the transaction group that it belongs to is on the device, and with it all
  // that was written before. zfs-fuse has neither `zpool sync` nor a sync(2) that waits.
  pool.sync = [](const PoolRequest& request) { return Words{"zfs", "set", "mongo:sync=yes", request.pool}; };
  pool.properties = [](const PoolRequest& request) {
    return Words{"zfs",
                 "get",
                 "-H",
                 "-o",
                 "property,value",
                 "compression,recordsize,atime,checksum,copies,dedup,logbias,primarycache,xattr",
                 request.pool};
  };
  driver.pool = pool;
  driver.mkfs_options = {"-d", "-o PROPERTY", "-O PROPERTY"};
  // What would put the file system elsewhere or nowhere, share it, ask for a key or read a file.
  driver.refused_mkfs_suboptions = {"altroot",     "cachefile",  "canmount", "compatibility", "encryption", "keyformat",
                                    "keylocation", "mountpoint", "readonly", "sharenfs",      "sharesmb",   "zoned"};
  return {driver};
}

}  // namespace mongo::fsdrivers::driver_zfs
