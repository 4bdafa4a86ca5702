#pragma once

#include <string>

#include "harness/core/byte_size.h"

namespace mongo {

/// The DEVICE argument, read but not looked at.
struct DeviceSpec {
  enum class Kind {
    block,      // a path of a block device
    loop_new,   // loop:SIZE, a file of the tool's own
    loop_file,  // loop:PATH, an existing image file
    ram,        // ram:SIZE, memory
    none,       // "none": there is no device, only a directory
  };
  Kind kind = Kind::block;
  std::string given;  // the whole argument
  std::string path;   // block and loop_file
  ByteSize size;      // loop_new and ram
};

/// Throws UsageError. What follows loop: is a size if it begins with a digit and holds no '/', else a path.
DeviceSpec parse_device_spec(const std::string& text);

}  // namespace mongo
