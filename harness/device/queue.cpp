#include "harness/device/queue.h"

#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <optional>

#include "harness/device/system_files.h"

namespace mongo {
namespace {

std::string line(const std::string& file) { return devio::printable(devio::trimmed(devio::read_file(file).text)); }

std::optional<std::uint64_t> number(const std::string& file) {
  const std::string digits = line(file);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// "[none] mq-deadline kyber"; devices that have no choice name the one without brackets.
std::string scheduler_in_use(const std::string& text) {
  const std::size_t begin = text.find('['), end = text.find(']');
  if (begin != std::string::npos && end != std::string::npos && begin < end) {
    return text.substr(begin + 1, end - begin - 1);
  }
  return text.find(' ') == std::string::npos ? text : "";
}

}  // namespace

void describe_queue(const std::string& major_minor, DeviceRecord& device, const std::string& root) {
  const devio::FileText folder = devio::real_path(root + "/sys/dev/block/" + major_minor);
  if (folder.error != 0) return;
  const bool partition = access((folder.text + "/partition").c_str(), F_OK) == 0;
  const std::string queue = folder.text + (partition ? "/../queue/" : "/queue/");
  device.scheduler = scheduler_in_use(line(queue + "scheduler"));
  device.write_cache = line(queue + "write_cache");
  if (const auto rotates = number(queue + "rotational")) device.rotational = *rotates != 0;
  device.queue_depth = number(queue + "nr_requests");
  device.logical_sector_bytes = number(queue + "logical_block_size");
  device.physical_sector_bytes = number(queue + "physical_block_size");
}

}  // namespace mongo
