#include "harness/guest/guest_mounts.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace mongo::guest {
namespace {

constexpr unsigned at_recursive = 0x8000;  // AT_RECURSIVE, fcntl.h of newer C libraries

int as_fd(long result) { return static_cast<int>(result); }

}  // namespace

Descriptor memory_folder(unsigned size_mib) {
  const Descriptor context(as_fd(syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC)));
  if (!context) return Descriptor();
  const std::string size = std::to_string(size_mib) + "m";
  if (syscall(SYS_fsconfig, context.get(), FSCONFIG_SET_STRING, "size", size.c_str(), 0) != 0 ||
      syscall(SYS_fsconfig, context.get(), FSCONFIG_SET_STRING, "mode", "0700", 0) != 0 ||
      syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) {
    return Descriptor();
  }
  return Descriptor(as_fd(syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC, 0)));
}

Descriptor open_apart(const std::string& path) {
  return Descriptor(as_fd(syscall(SYS_open_tree, AT_FDCWD, path.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC)));
}

Descriptor enter_read_only_tree() {
  // A copy, since "/" need not be a mount (in a chroot it is none), and only a mount can be changed. It is attached
  // nowhere: where "/" is shared, that would be seen outside.
  Descriptor tree(as_fd(syscall(SYS_open_tree, AT_FDCWD, "/", OPEN_TREE_CLONE | at_recursive)));
  if (!tree) return Descriptor();
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  attributes.propagation = MS_PRIVATE;
  const long set = syscall(SYS_mount_setattr, tree.get(), "", AT_EMPTY_PATH | at_recursive, &attributes,
                           sizeof attributes);
  if ((set != 0 && errno != ENOSYS) || fchdir(tree.get()) != 0 || chroot(".") != 0) return Descriptor();
  return tree;
}

}  // namespace mongo::guest
