#include <fmt/format.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>

#include "harness/core/errors.h"
#include "harness/device/guard_uses.h"
#include "harness/device/system_files.h"

namespace mongo {

DeviceUses::DeviceUses(const GuardOptions& options, const std::shared_ptr<const KernelView>& kernel,
                       const BlockDevice& device)
    : options_(options),
      kernel_(*kernel),
      device_(device),
      rdev_(makedev(device.major, device.minor)),
      blocks_(options.root),
      processes_(options.root, kernel) {
  find_relatives();
}

void DeviceUses::find_relatives() {
  const SysBlock self = blocks_.find(rdev_);
  add_relative(Relative::Kind::self, self);
  if (const std::optional<SysBlock> disk = blocks_.disk_of(self)) {
    add_relative(Relative::Kind::disk, *disk);
    for (const SysBlock& other : blocks_.partitions_of(*disk)) {
      if (other.rdev != rdev_ && blocks_.overlap(self, other)) add_relative(Relative::Kind::partition, other);
    }
  }
  for (const SysBlock& part : blocks_.partitions_of(self)) add_relative(Relative::Kind::partition, part);
  // Grows while it is walked: the device below a loop device may be one itself.
  for (std::size_t i = 0; i < relatives_.size(); ++i) add_backing(relatives_[i]);
}

void DeviceUses::add_relative(Relative::Kind kind, const SysBlock& block) {
  if (relative_with(block.rdev) == nullptr) relatives_.push_back({kind, block});
}

// A copy: what follows may grow relatives_, where the original lies.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
void DeviceUses::add_backing(Relative loop) {
  if (!blocks_.backing_file(loop.block)) return;
  const std::string node = node_of(loop);
  const LoopBacking backing = kernel_.loop_backing(node);
  if (backing.error != 0) {
    throw CannotTell(
        fmt::format("the loop device {} does not tell what it stands on: {}", node, errno_text(backing.error)), node);
  }
  own_loops_.push_back({loop.block, backing});
  if (backing.rdev == 0) return;
  const SysBlock below = blocks_.find(backing.rdev);
  add_relative(Relative::Kind::backing, below);
  if (const std::optional<SysBlock> disk = blocks_.disk_of(below)) add_relative(Relative::Kind::backing, *disk);
  for (const SysBlock& part : blocks_.partitions_of(below)) add_relative(Relative::Kind::backing, part);
}

const Relative* DeviceUses::relative_with(dev_t device) const {
  const auto found =
      std::find_if(relatives_.begin(), relatives_.end(), [&](const auto& each) { return each.block.rdev == device; });
  return found == relatives_.end() ? nullptr : &*found;
}

std::string DeviceUses::node_of(const Relative& relative) const {
  return relative.kind == Relative::Kind::self ? device_.resolved : relative.block.node();
}

Refusal DeviceUses::refuse(Refusal::Reason reason, const std::string& what, const std::string& evidence,
                           const std::string& advice) const {
  const std::string given = devio::printable(device_.given), resolved = devio::printable(device_.resolved);
  return {reason, given == resolved ? given : fmt::format("{} ({})", given, resolved), what, evidence, advice};
}

Refusal DeviceUses::refuse(Refusal::Reason reason, const Relative& relative, const std::string& what,
                           const std::string& evidence, const std::string& advice) const {
  const std::string name = relative.block.name;
  switch (relative.kind) {
    case Relative::Kind::self:
      return refuse(reason, what, evidence, advice);
    case Relative::Kind::partition:
      return refuse(reason, fmt::format("has the partition {}, which {}", name, what), evidence, advice);
    case Relative::Kind::disk:
      return refuse(reason, fmt::format("is part of the disk {}, which {}", name, what), evidence, advice);
    case Relative::Kind::backing:
      return refuse(reason, fmt::format("is a loop device that stands on {}, which {}", name, what), evidence, advice);
  }
  return refuse(reason, what, evidence, advice);
}

}  // namespace mongo
