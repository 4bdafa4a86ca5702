#include "harness/run/record_start.h"

#include <algorithm>
#include <ctime>
#include <string_view>

#include "harness/device/mount.h"
#include "harness/measure/environment.h"
#include "harness/measure/host.h"

namespace mongo {

RunRecord start_record(const Cell& cell) {
  RunRecord record;
  const std::time_t now = std::time(nullptr);
  record.run_id = make_run_id(now);
  record.started_at = utc_text(now);
  record.utc_offset = utc_offset(now);
  record.mongo_version = MONGO_VERSION;
  record.log = cell.log;
  record.host = describe_host();
  record.device.given = cell.device.given;
  record.filesystem = cell.driver->name;
  record.mount.point = cell.mount_point;
  record.mount.requested = cell.mount_options;
  record.mount.version = mount_version();
  record.mkfs.options = cell.mkfs_options;
  record.processes = cell.processes;
  record.repetitions = cell.repetitions;
  record.profile = cell.profile.name;
  record.content = phases::content_name(cell.content);
  record.sync = sync_policy_name(cell.sync);
  record.verify = cell.verify;
  if (cell.phase_timeout_seconds) record.phase_timeout_seconds = *cell.phase_timeout_seconds;
  return record;
}

void add_flags_and_warnings(const Cell& cell, RunRecord& record, RunObserver& observer) {
  const DeviceRecord& device = record.device;
  if (device.kind == "directory") record.flags.emplace_back("existing-directory");
  if (device.kind == "loop" || device.kind == "ram") record.flags.push_back(device.kind + "-device");
  const bool in_memory = device.backing_filesystem == "tmpfs" || device.backing_filesystem == "ramfs";
  if (device.kind == "loop" && in_memory) record.flags.emplace_back("ram-device");
  if (device.direct_io != true && device.kind == "loop" && !in_memory) record.flags.emplace_back("second-page-cache");
  if (record.mkfs.lazy_initialisation == true) record.flags.emplace_back("lazy-initialisation");
  const bool reads_warm = std::any_of(cell.phases.begin(), cell.phases.end(), [&](const phases::Phase* phase) {
    return std::string_view(phase->name) == "read" && policy_of(cell.cache, phase->name) == CachePolicy::warm;
  });
  record.warnings = host_warnings(record.host, reads_warm ? working_set_bytes(cell) : 0);
  for (const std::string& warning : record.warnings) observer.note("warning: " + warning);
}

}  // namespace mongo
