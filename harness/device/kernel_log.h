#pragma once

#include <string>
#include <vector>

#include "harness/device/system_files.h"

namespace mongo {

/// What the kernel logs from the making of this object on; nothing where /dev/kmsg cannot be read.
/// Source: Documentation/ABI/testing/dev-kmsg.
class KernelLog {
 public:
  KernelLog();
  /// The last new line of the kernel's own that holds one of the words, the first word that has any preferred; else "".
  std::string last_line_about(const std::vector<std::string>& words);

 private:
  devio::FileDescriptor log_;
};

}  // namespace mongo
