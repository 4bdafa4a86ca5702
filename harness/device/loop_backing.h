#pragma once

#include <string>

#include "harness/core/device_spec.h"
#include "harness/device/system_files.h"

// The file behind a loop device of the tool's own. Private to harness/device.

namespace mongo {

struct BackingFile {
  devio::FileDescriptor file;
  std::string name;        // for people: a path, "memory", "unnamed file in /var/tmp"
  bool direct_io = false;  // worth asking for LO_FLAGS_DIRECT_IO
};

/// Look only. Throw RunError("attach", ...) when a file of that size in $TMPDIR or /var/tmp does not fit, or the size
/// exceeds MemAvailable.
void check_room(ByteSize size);
void check_memory(ByteSize size);

/// A file without a name of the size, in $TMPDIR or /var/tmp, allocated where the file system there can do that.
/// Throws RunError("attach", ...) when it does not fit.
BackingFile make_unnamed_file(ByteSize size);

/// Memory that has no name either (memfd_create(2)). Throws RunError("attach", ...) when it exceeds MemAvailable.
BackingFile make_memory(ByteSize size);

/// The user's image, locked (flock(2)) for as long as the file or a loop device on it is open. Throws DeviceRefused
/// when it is no regular file, cannot be written, is attached already, is swap, or is open for writing elsewhere.
BackingFile open_image(const std::string& path);

}  // namespace mongo
