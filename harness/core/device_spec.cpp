#include "harness/core/device_spec.h"

#include "harness/core/errors.h"

namespace mongo {
namespace {

bool looks_like_size(const std::string& text) {
  return !text.empty() && text[0] >= '0' && text[0] <= '9' && text.find('/') == std::string::npos;
}

ByteSize checked_size(const std::string& text, const std::string& given) {
  const ByteSize size = parse_byte_size(text);
  if (size.bytes == 0 || size.bytes % 512 != 0) {
    throw UsageError("device '" + given + "': the size must be a multiple of 512 bytes and not 0");
  }
  return size;
}

}  // namespace

DeviceSpec parse_device_spec(const std::string& text) {
  DeviceSpec spec;
  spec.given = text;
  if (text.find('\0') != std::string::npos) throw UsageError("the device name holds a NUL byte");
  if (text == "none") {
    spec.kind = DeviceSpec::Kind::none;
  } else if (text.starts_with("loop:")) {
    const std::string rest = text.substr(5);
    if (rest.empty()) throw UsageError("device 'loop:' needs a size or the path of an image file, e.g. loop:2GiB");
    if (looks_like_size(rest)) {
      spec.kind = DeviceSpec::Kind::loop_new;
      spec.size = checked_size(rest, text);
    } else {
      spec.kind = DeviceSpec::Kind::loop_file;
      spec.path = rest;
    }
  } else if (text.starts_with("ram:")) {
    spec.kind = DeviceSpec::Kind::ram;
    spec.size = checked_size(text.substr(4), text);
  } else {
    spec.path = text;
  }
  return spec;
}

}  // namespace mongo
