#pragma once

#include <cstdint>
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

/// Refuses a size that is not made of whole sectors, if they are larger than 512 bytes: the kernel would leave out the
/// rest. Throws RunError("attach", ...), of an image DeviceRefused.
void check_whole_sectors(const DeviceSpec& spec, std::uint64_t bytes, unsigned sector_size);

/// The size of a file in bytes. Throws RunError("attach", ...).
std::uint64_t size_of(const BackingFile& backing);

/// Gives a file all blocks that it has not yet; its size and what it holds stay (fallocate(2)). A file system that
/// cannot do that is no error. Returns 0 or an errno.
int allocate(int file);

/// Whether the file has as many blocks as its size needs. The blocks of its map count too (st_blocks in stat(2)), so
/// that a hole of a few KiB may be missed.
bool is_allocated(int file);

/// A file without a name of the size, in $TMPDIR or /var/tmp; preallocated where asked for and possible. Throws
/// RunError("attach", ...) when it does not fit; a sparse one has to fit too, as the files of a run may fill it.
BackingFile make_unnamed_file(ByteSize size, bool preallocate);

/// Memory that has no name either (memfd_create(2)). Throws RunError("attach", ...) when it exceeds MemAvailable.
BackingFile make_memory(ByteSize size, bool preallocate);

/// The user's image, locked (flock(2)) for as long as the file or a loop device on it is open. Throws DeviceRefused
/// when it is no regular file, cannot be written, is attached already, is swap, or is open for writing elsewhere.
BackingFile open_image(const std::string& path);

}  // namespace mongo
