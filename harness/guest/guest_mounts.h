#pragma once

#include <string>

#include "harness/core/descriptor.h"

// The guest's own view of the host's mounts. Raw system calls: <sys/mount.h> and <linux/mount.h> do not go together in
// every C library. Private to harness/guest.

namespace mongo::guest {

/// A file system in memory that is mounted nowhere, open at its root; it is gone with the last process that has it
/// open. Programs can be mapped from it, which /dev/shm does not always allow. -1 and errno on failure.
Descriptor memory_folder(unsigned size_mib);

/// A file or folder opened by a mount of its own, which enter_read_only_tree() does not reach. -1 and errno on failure.
Descriptor open_apart(const std::string& path);

/// For the child between fork and exec: makes a copy of the tree of mounts below "/", in which nothing can be written
/// where the kernel can do that (5.12), its root directory. The copy lasts as long as the descriptor, which programs
/// inherit. None and errno on failure.
Descriptor enter_read_only_tree();

}  // namespace mongo::guest
