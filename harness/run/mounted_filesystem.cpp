#include "harness/run/mounted_filesystem.h"

#include <fcntl.h>

#include <cerrno>

#include "harness/core/errors.h"

namespace mongo {

Descriptor open_mount_root(const std::string& point) {
  Descriptor root(open(point.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) throw RunError("mount", "cannot open the mount point: " + errno_text(errno));
  return root;
}

}  // namespace mongo
