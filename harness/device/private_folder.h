#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "harness/core/descriptor.h"

namespace mongo {

/// Whether whoever started this process sees other mounts than it does. As far as can be told.
bool in_private_mount_namespace();

/// A folder at a path that a program insists on, in this process's private mount namespace only: an empty tmpfs on top
/// of what is there for everybody else. Where nothing is there, a folder is made to mount on, and removed by the last
/// run that uses it.
class PrivateFolder {
 public:
  /// Told of a folder to mount on that has to be removed, before it is used.
  using Note = std::function<void(const std::string& path, dev_t device, ino_t inode)>;

  /// Throws RunError("private folder", ...), also in a mount namespace that is not this run's own.
  PrivateFolder(const std::string& path, const Note& note);
  /// Undoes what remove() has not; failures go unsaid. Does nothing in a forked process.
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::string& path() const { return path_; }
  /// Unmounts, and removes the folder below if it was made and nobody else needs it. Idempotent. Throws
  /// RunError("private folder", ...).
  void remove();

 private:
  void open_and_hold(const Note& note);

  std::string path_;
  Descriptor below_;  // the folder mounted on; holds a shared lock for as long as it is needed
  bool mounted_ = false;
  pid_t owner_;
};

/// Removes a folder that runs have made to mount on, unless another run still needs it. Returns 0, or the errno of
/// rmdir. For a folder that nobody has locked this is rmdir(2).
int remove_unneeded_folder(const std::string& path);

}  // namespace mongo
