#include "tests/unit/report/samples.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>
#include <stdexcept>

namespace mongo::samples {
namespace {

PhaseRecord phase(const std::string& name, const std::string& label, std::vector<double> seconds,
                  std::uint64_t operations) {
  PhaseRecord record;
  record.name = name;
  record.label = label;
  record.seconds = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  record.elapsed_seconds = *record.seconds + 0.01;
  record.repetition_seconds = std::move(seconds);
  record.operations = operations;
  record.planned_operations = operations;
  record.cpu_user_seconds = 0.05;
  record.cpu_system_seconds = 0.6;
  record.machine_cpu_seconds = 0.75;
  record.cpu_percent = 65.5;
  record.machine_cpu_percent = 75.25;
  record.device = {1, 4096, 2, 8192, 3};
  record.device_sync = {0, 0, 20, 1048576, 1};
  record.write_amplification = 1.25;
  record.start_skew_seconds = 0.0001;
  record.overlap = 0.875;
  record.cache = {"drop", "remount", "drop_caches: Permission denied", 16, 0, 0.25};
  record.verified_files = operations;
  record.verify_seconds = 0.5;
  record.flags = {"low-overlap"};
  record.latencies = {{name, 1000, 2500.5, 2000, 4000, 9000, std::nullopt, 25'000, {{1984, 900}, {8960, 100}}}};
  return record;
}

void survey(PhaseRecord& record, std::uint64_t used_kib, std::uint64_t directories, std::uint64_t files,
            std::uint64_t large_files, std::uint64_t fragments) {
  record.used_kib = used_kib;
  record.directories = directories;
  record.files = files;
  record.sync_seconds = 0.25;
  Fragmentation fragmentation;
  const double ratio = static_cast<double>(fragments) / static_cast<double>(large_files);
  fragmentation.above_threshold = {large_files, fragments, ratio};
  fragmentation.all_files = {files, files, 1.0};
  fragmentation.shared_extents = 1;
  fragmentation.encoded_extents = 2;
  fragmentation.encoded_files = 3;
  fragmentation.unwritten_extents = 4;
  fragmentation.inline_extents = 5;
  fragmentation.delayed_extents = 6;
  fragmentation.method = "FIEMAP";
  fragmentation.files_by_fragments = {{0, 12}, {1, 160}, {3, 5}};
  fragmentation.survey_seconds = 0.125;
  record.fragmentation = fragmentation;
  record.data_bytes = used_kib * 1000;
  record.allocated_bytes = used_kib * 1024;
  record.free_space = {"GETFSMAP", "", 3, 1048576, 524288, {{65536, 1}, {524288, 1}}};
}

PhaseRecord without_time(const std::string& name, const std::string& label, Status status, const std::string& reason) {
  PhaseRecord record;
  record.name = name;
  record.label = label;
  record.status = status;
  record.reason = reason;
  record.cache = {"drop", "remount", "drop_caches: Permission denied", 16, 0, 0.25};
  return record;
}

RunRecord header(const std::string& filesystem) {
  RunRecord record;
  record.run_id = "20261130T165001Z-1a2b3c";
  record.started_at = "2026-11-30T16:50:01Z";
  record.ended_at = "2026-11-30T16:51:07Z";
  record.utc_offset = "+01:00";
  record.mongo_version = "0.1.0";
  record.log = "log" + filesystem;
  record.host.name = "bench";
  record.host.kernel = "6.1.0-18-amd64";
  record.host.machine = "x86_64";
  record.device.given = "/dev/sdb1";
  record.device.resolved = "/dev/sdb1";
  record.device.kind = "block";
  record.device.major_minor = "8:17";
  record.device.size_bytes = 2147483648;
  record.filesystem = filesystem;
  record.mkfs = {{"mkfs." + filesystem, "/dev/sdb1"}, {}, "mkfs." + filesystem + " 1.0", 0.5, std::nullopt};
  record.mount = {"/mnt", "", "rw,relatime", "2.38.1", {}};
  record.profile = "classic";
  return record;
}

}  // namespace

RunRecord full() {
  RunRecord record = header("xfs");
  record.device.given = "loop:2GiB";
  record.device.resolved = "/dev/loop0";
  record.device.kind = "loop";
  record.device.major_minor = "7:0";
  record.device.backing = "/var/tmp/mongo image";
  record.device.model = "Disk 9000";
  record.device.serial = "S1234";
  record.device.by_id = "/dev/disk/by-id/ata-Disk_9000_S1234";
  record.device.scheduler = "mq-deadline";
  record.device.write_cache = "write back";
  record.device.rotational = false;
  record.device.queue_depth = 128;
  record.device.logical_sector_bytes = 512;
  record.device.physical_sector_bytes = 4096;
  record.device.direct_io = true;
  record.device.preallocated = false;
  record.device.backing_filesystem = "ext4";
  record.host.distribution = "Debian GNU/Linux 12 (bookworm)";
  record.host.cpu_model = "Example CPU 3000";
  record.host.cpus = 2;
  record.host.memory_bytes = 25769803776;
  record.host.virtualisation = "kvm";
  record.host.clock_source = "tsc";
  record.host.clock_resolution_ns = 21;
  record.host.governor = "performance";
  record.host.load = 0.25;
  record.host.mitigations = {"meltdown: Mitigation: PTI"};
  record.implementation = "xfs 6.1";
  record.mount.settings = {"compression=off"};
  record.flags = {"loop-device"};
  record.warnings = {"load of 2.30 before the start"};
  record.content = "compressible:50";
  record.sync = "each";
  record.verify = true;
  record.phase_timeout_seconds = 600;
  record.mkfs.lazy_initialisation = false;
  record.device.destroyed = {{"ext4", "filesystem", "old data", "5e0d6a3c-0000-4000-8000-000000000001"},
                             {"dos", "partition table", "", ""}};
  record.mkfs.argv = {"mkfs.xfs", "-f", "-L", "two words", "/dev/loop0"};
  record.mkfs.options = {"-L", "two words"};
  record.mount.requested = "noatime";
  record.notes = {"waited 2 s for /dev/loop0 to be free"};
  record.mount.effective = "rw,noatime,attr2,inode64";

  PassRecord small;
  small.median_file_size_bytes = 100;
  small.planned_files = 68952;
  small.files = 68952;
  small.directories = 241;
  small.mkfs_seconds = 0.25;
  small.phases = {
      phase("create", "Create", {0.51, 0.44, 0.37}, 34476),  phase("copy", "Copy", {0.74, 0.93, 1.01}, 34476),
      phase("symlink", "Slinks", {0.84, 0.80, 0.85}, 34476), phase("read", "Read", {4.55, 0.84, 0.69}, 68952),
      phase("stat", "Stats", {0.10, 0.07, 0.07}, 103428),    phase("rename", "Rename", {0.33, 0.37, 0.37}, 34476),
      phase("delete", "Delete", {1.61, 1.94, 1.80}, 103428)};
  survey(small.phases[0], 854376, 121, 34476, 177, 177);
  survey(small.phases[1], 194124, 241, 68952, 354, 365);
  small.phases[0].bytes = 8192000;
  small.phases[0].errors = {{"close", EIO, "EIO", 1, "100-1-1/a"}};

  PassRecord large;
  large.median_file_size_bytes = 1000;
  large.planned_files = 11616;
  large.files = 11616;
  large.directories = 43;
  large.mkfs_seconds = 0.25;
  large.phases = {
      phase("create", "Create", {0.15, 0.11, 0.08}, 5808),        phase("copy", "Copy", {0.14, 0.18, 0.15}, 5808),
      phase("symlink", "Slinks", {0.17, 0.16, 0.19}, 5808),       phase("read", "Read", {0.35, 0.12, 0.11}, 11616),
      phase("stat", "Stats", {0.0023, 0.0012, 0.0000004}, 17424), phase("rename", "Rename", {0.07, 0.09, 0.08}, 5808),
      phase("delete", "Delete", {0.24, 0.25, 0.27}, 17424)};
  survey(large.phases[0], 197324, 22, 5808, 348, 348);
  survey(large.phases[1], 84560, 43, 11616, 696, 800);
  record.passes = {small, large};
  return record;
}

RunRecord plain(const std::string& filesystem) {
  RunRecord record = full();
  record.filesystem = filesystem;
  record.sync = "phase";
  record.content = "random";
  record.verify = false;
  record.flags.clear();
  record.warnings.clear();
  for (PassRecord& pass : record.passes) {
    for (PhaseRecord& phase : pass.phases) {
      phase.flags.clear();
      phase.cache = {};
    }
  }
  return record;
}

RunRecord out_of_inodes() {
  RunRecord record = header("ext4");
  record.status = Status::incomplete;
  record.reason = "create at 100 bytes: ENOSPC: no inodes left, 53 of 200 files";
  record.processes = 4;
  PassRecord pass;
  pass.median_file_size_bytes = 100;
  pass.planned_files = 400;
  pass.files = 53;
  pass.directories = 5;
  pass.mkfs_seconds = 0.5;
  PhaseRecord create = without_time("create", "Create", Status::incomplete, "ENOSPC: no inodes left, 53 of 200 files");
  create.elapsed_seconds = 1.5;
  create.operations = 53;
  create.planned_operations = 200;
  create.cpu_user_seconds = 0.1;
  create.cpu_system_seconds = 0.2;
  create.errors = {{"create", ENOSPC, "ENOSPC", 147, "100-1-1/d0/f17"}};
  survey(create, 212, 5, 53, 2, 2);
  const std::string reason = "create did not succeed";
  pass.phases = {create,
                 without_time("copy", "Copy", Status::skipped, reason),
                 without_time("symlink", "Slinks", Status::skipped, reason),
                 without_time("read", "Read", Status::skipped, reason),
                 without_time("stat", "Stats", Status::skipped, reason),
                 without_time("rename", "Rename", Status::skipped, reason),
                 phase("delete", "Delete", {0.02, 0.03, 0.04}, 53)};
  record.passes = {pass};
  return record;
}

RunRecord interrupted() {
  RunRecord record = header("zfs");
  record.status = Status::interrupted;
  record.reason = "signal SIGINT in read at 1000 bytes";
  record.repetitions = 1;
  PassRecord first;
  first.median_file_size_bytes = 100;
  first.planned_files = 200;
  first.files = 200;
  first.directories = 3;
  first.phases = {phase("create", "Create", {0.5}, 200), phase("read", "Read", {0.25}, 200)};
  first.phases[0].used_kib = 800;
  first.phases[0].directories = 3;
  first.phases[0].files = 200;
  first.phases[0].fragmentation = Fragmentation{};
  first.phases[0].fragmentation->reason = "FIEMAP is not supported (EOPNOTSUPP)";
  PassRecord second = first;
  second.median_file_size_bytes = 1000;
  second.phases[1] = without_time("read", "Read", Status::interrupted, "signal SIGINT, 17 of 200 files");
  second.phases[1].operations = 17;
  second.phases[1].planned_operations = 200;
  record.passes = {first, second};
  return record;
}

RunRecord unsupported() {
  RunRecord record = header("reiserfs");
  record.status = Status::unsupported;
  record.reason = "mkreiserfs is not installed";
  record.mkfs = {};
  record.mount.effective = "";
  return record;
}

RunRecord minimal() {
  RunRecord record;
  record.run_id = "x";
  record.filesystem = "ext4";
  return record;
}

RunRecord hostile() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  RunRecord record = full();
  record.reason = "first\nCreate : 0.01 sec.\r\x1b[2J\ttab \xff\xfe \xe2\x80\xa8 \xc2\x85 \xc3\xa4";
  record.notes = {"note\nFragm. : 1.000"};
  record.status = Status::failed;
  record.log = "log \xf0\x9f\x98\x80";
  record.device.given = std::string("a\0b", 3);
  record.mount.effective = std::string(100000, 'x');
  record.mkfs.seconds = nan;
  PhaseRecord& create = record.passes[0].phases[0];
  create.seconds = infinity;
  create.repetition_seconds = {nan, -infinity, 0.5};
  create.elapsed_seconds = -1;
  create.cpu_user_seconds = nan;
  create.sync_seconds = infinity;
  create.fragmentation->above_threshold.ratio = nan;
  create.errors = {{"create", 28, "ENOSPC", std::numeric_limits<std::uint64_t>::max(), "d/\xc0\xaf\nfiles=1"}};
  record.passes[0].phases[1].status = Status::failed;
  record.passes[0].phases[1].reason = "EIO\ndf     : 1";
  return record;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool write_expected() { return std::getenv("MONGO_WRITE_EXPECTED") != nullptr; }  // NOLINT(concurrency-mt-unsafe)

std::filesystem::path expected_folder() {
  return std::filesystem::path(MONGO_SOURCE_DIR) / "tests" / "unit" / "report" / "expected";
}

void expect_file(const std::string& name, const std::string& text) {
  const auto path = expected_folder() / name;
  if (write_expected()) std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(text, read_file(path));
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string row(const std::string& text, const std::string& label) {
  const std::size_t at = text.find("\n" + label + " ");
  return at == std::string::npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "mongo-report-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace mongo::samples
