#include "harness/device/loop_check.h"

#include <fmt/format.h>

#include "harness/core/errors.h"
#include "harness/device/contents.h"
#include "harness/device/kernel_view.h"
#include "harness/device/loop_backing.h"
#include "harness/device/system_files.h"

namespace mongo {

namespace {

/// The guard's last question, asked of the image itself: what the loop device would show is what the file holds.
void check_contents(const DeviceSpec& spec, bool destroy) {
  const std::string device = devio::printable(spec.given);
  std::optional<Refusal> refusal;
  try {
    refusal = refuse_contents(*real_kernel_view(), spec.path, destroy);
  } catch (const RunError& error) {
    refusal = Refusal{Refusal::Reason::cannot_tell, "", fmt::format("cannot be shown to be unused: {}", error.what()),
                      "", "Nothing was touched."};
  }
  if (!refusal) return;
  refusal->device = device;
  throw DeviceRefused(refusal->text());
}

}  // namespace

void check_loop_spec(const DeviceSpec& spec, const GuardOptions& options, const LoopOptions& loop) {
  switch (spec.kind) {
    case DeviceSpec::Kind::block:
    case DeviceSpec::Kind::none:
      return;
    case DeviceSpec::Kind::loop_new:
      check_whole_sectors(spec, spec.size.bytes, loop.sector_size);
      check_room(spec.size);
      break;
    case DeviceSpec::Kind::ram:
      check_whole_sectors(spec, spec.size.bytes, loop.sector_size);
      check_memory(spec.size);
      break;
    case DeviceSpec::Kind::loop_file: {
      const BackingFile image = open_image(spec.path);  // locked until the end of this look
      check_whole_sectors(spec, size_of(image), loop.sector_size);
      check_contents(spec, options.destroy);
      break;
    }
  }
  check_loop_control();
}

}  // namespace mongo
