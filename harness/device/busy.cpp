#include "harness/device/busy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <thread>

#include "harness/core/errors.h"
#include "harness/device/kernel_view.h"
#include "harness/device/processes.h"

namespace mongo {

std::chrono::milliseconds wait_until_free(const std::string& node, std::chrono::milliseconds patience) {
  using std::chrono::milliseconds;
  using Clock = std::chrono::steady_clock;
  constexpr milliseconds pause(20);
  const std::shared_ptr<const KernelView> kernel = real_kernel_view();
  const Clock::time_point begin = Clock::now();
  while (true) {
    const OpenResult opened = kernel->open_device(node, O_RDONLY | O_EXCL);
    const auto waited = std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
    if (opened.error == 0) return waited;
    if (opened.error != EBUSY) {
      throw RunError("device busy",
                     fmt::format("{}: cannot be opened exclusively: {}", node, errno_text(opened.error)));
    }
    if (waited >= patience) {
      const dev_t rdev = kernel->stat(node).rdev;
      const ProcessUses uses =
          Processes("/", kernel).open_files([&](const NodeStat& file) { return file.is_block() && file.rdev == rdev; });
      throw RunError(
          "device busy",
          fmt::format("{}: still in use after {} ms. {}", node, waited.count(),
                      uses.found.empty()
                          ? "No process has it open: look for a mount in another mount namespace, swap, or a "
                            "device above it (lsblk)."
                          : "Open in " + list_uses(uses.found) + "."));
    }
    std::this_thread::sleep_for(std::min(pause, patience - waited + milliseconds(1)));
  }
}

}  // namespace mongo
