#pragma once

#include "harness/core/record.h"

namespace mongo {

/// Where the free space of a btrfs on one device lies: what no chunk has, and what no extent has in the chunks for
/// data, by their place on the device. What is free in chunks for metadata only is not open to files, and is left out
/// like the inode tables of other file systems; so are the superblocks. Null with the reason where data or more lie on
/// several devices or in several copies, or without a free space tree (mount option space_cache=v1).
/// Reads the chunk, device and free space trees with ioctl BTRFS_IOC_TREE_SEARCH_V2, which needs CAP_SYS_ADMIN. Source:
/// linux/btrfs.h, linux/btrfs_tree.h, https://btrfs.readthedocs.io (On-disk format).
/// fd: any open directory of it.
FreeSpace read_free_space_of_btrfs(int fd);

}  // namespace mongo
