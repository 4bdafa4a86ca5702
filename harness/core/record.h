#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// The record: everything that one run found out. The text files are made from it and from nothing else.
// harness/report/record_json.h turns it into JSON and back; configs/record.schema.json describes that form.
// Units are in the names. A value that is not known is null (an empty optional), never 0 and never NaN.

namespace mongo {

/// How a run or a phase ended.
enum class Status {
  ok,
  incomplete,   // the disk or the inodes ran out, or a limit of the file system was met
  failed,       // an error of another kind
  unsupported,  // this host cannot run the file system; nothing was touched
  interrupted,  // by a signal
  skipped,      // a phase that was not run because of what happened before it
};
const char* status_name(Status status);
std::optional<Status> parse_status(const std::string& name);

/// One kind of failed operation, summed over workers and repetitions.
struct ErrorRecord {
  std::string operation;  // e.g. "create"
  int code = 0;           // errno
  std::string name;       // e.g. "ENOSPC"
  std::uint64_t count = 0;
  std::string first_path;  // below the mount point
};

/// How long one kind of operation took in one phase, over all processes and repetitions. Nanoseconds.
struct LatencyRecord {
  std::string operation;
  std::uint64_t count = 0;
  double mean_ns = 0;
  std::optional<double> p50_ns, p95_ns, p99_ns, p99_9_ns;  // at most 1 % off; null when the count does not support them
  std::uint64_t max_ns = 0;
  /// The smallest value of each bucket that is not empty, ascending, and its count; a bucket ends where the next
  /// possible one begins: 1 ns wide below 256, then 1/128 of the power of two below its values.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> histogram;
};

/// What the block device did during a phase.
struct DeviceActivity {
  std::uint64_t read_requests = 0, read_bytes = 0;
  std::uint64_t write_requests = 0, written_bytes = 0;
  std::uint64_t flushes = 0;
};

/// Fragments over the regular files of a set that have at least one. ratio is fragments / files; null where there is
/// nothing to divide.
struct FragmentCount {
  std::optional<std::uint64_t> files;  // null: extents cannot be read here
  std::optional<std::uint64_t> fragments;
  std::optional<double> ratio;
};

/// A fragment is a maximal run of physically and logically adjacent data. Holes, unwritten and inline extents are none.
struct Fragmentation {
  std::string method;  // "FIEMAP" or "FIBMAP"; empty when neither is to be had
  std::uint64_t threshold_bytes = 16384;
  FragmentCount above_threshold;  // regular files larger than threshold_bytes: the figure of the published tables
  FragmentCount all_files;
  std::string reason;                 // why the ratio is null; empty otherwise
  std::uint64_t shared_extents = 0;   // also in the fragments: their place is known
  std::uint64_t encoded_extents = 0;  // compressed or encrypted: not in the fragments, nor are their files in the files
  std::uint64_t encoded_files = 0;
  std::uint64_t unwritten_extents = 0;
  std::uint64_t inline_extents = 0;
  std::uint64_t delayed_extents = 0;  // not yet placed: never counted as fragments
  /// The smallest number of fragments of each bucket that is not empty, ascending, and its files; a bucket ends where
  /// the next possible one begins: 0, 1, 2, 3, 5, 9, 17, ... Files with encoded extents are not in it.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> files_by_fragments;
  double survey_seconds = 0;
};

/// Where the free space lies: an extent is a maximal run of free bytes.
struct FreeSpace {
  std::string method;  // "GETFSMAP"; empty when it is not to be had
  std::string reason;  // why it is not; empty otherwise
  std::optional<std::uint64_t> extents, bytes, largest_bytes;
  /// The smallest size in bytes of each bucket that is not empty, ascending, and its extents; buckets are powers of
  /// two.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> histogram;
};

/// In what state a phase found the caches.
struct CacheRecord {
  std::string requested = "warm";  // warm, drop or remount
  std::string state = "warm";      // what was done: the same, or what was left to do
  std::string reason;              // why it is not what was requested, or why it is not sure; empty otherwise
  std::optional<std::uint64_t> sampled_files;   // looked at after the caches were emptied, over all repetitions
  std::optional<std::uint64_t> resident_bytes;  // of them found in the page cache: 0 when it is empty
  double seconds = 0;                           // that emptying and looking took, outside the phase's time
};

/// One phase of one pass. seconds is null unless every operation of it succeeded on every file planned.
struct PhaseRecord {
  std::string name;   // create, copy, symlink, read, stat, rename, delete
  std::string label;  // Create, Copy, Slinks, Read, Stats, Rename, Delete
  Status status = Status::ok;
  std::string reason;                      // "ENOSPC: no inodes left, 53 of 200 files"; empty when ok
  std::optional<double> seconds;           // sum of repetition_seconds
  std::vector<double> repetition_seconds;  // empty unless ok
  double elapsed_seconds = 0;              // time spent in the phase however it ended; no measure of speed
  std::optional<double> sync_seconds;      // syncfs after the phase, outside its time
  std::uint64_t operations = 0;            // files on which the phase's work succeeded
  std::uint64_t planned_operations = 0;
  std::uint64_t bytes = 0;      // of file data written or read
  double cpu_user_seconds = 0;  // of the workers
  double cpu_system_seconds = 0;
  std::optional<double> machine_cpu_seconds;  // all CPUs, kernel threads included, less what the idle machine uses
  std::optional<double> cpu_percent;          // the workers' CPU time / the phase's time; 100 is one CPU
  std::optional<double> machine_cpu_percent;  // the machine's, likewise
  std::optional<DeviceActivity> device;       // from the start of the phase to its end
  std::optional<DeviceActivity> device_sync;  // in the sync after it
  std::optional<double>
      write_amplification;        // bytes that the device wrote until the sync had ended / bytes of file data written
  double start_skew_seconds = 0;  // largest, over the repetitions, between the first and the last process to begin
  std::optional<double> overlap;  // smallest share of a repetition's time in which all processes were at work
  CacheRecord cache;
  std::optional<double> suspended_seconds;      // the machine slept for so long during the phase: it has no time then
  std::optional<std::uint64_t> verified_files;  // whose content was compared after the phase, outside its time
  std::optional<double> verify_seconds;
  std::vector<std::string> flags;        // what to know before this number is used, e.g. "low-overlap"
  std::vector<LatencyRecord> latencies;  // empty when not measured
  std::vector<ErrorRecord> errors;
  // after create and copy only
  std::optional<std::uint64_t> used_kib;         // more than on the empty file system
  std::optional<std::uint64_t> data_bytes;       // the sizes of all regular files
  std::optional<std::uint64_t> allocated_bytes;  // what the file system says that it gave them (st_blocks)
  std::optional<std::uint64_t> directories;      // the root and lost+found included
  std::optional<std::uint64_t> files;            // regular files
  std::optional<Fragmentation> fragmentation;
  std::optional<FreeSpace> free_space;
};

/// The phases on one fresh file system.
struct PassRecord {
  std::uint64_t median_file_size_bytes = 0;
  std::uint64_t planned_files = 0;     // regular files when create and copy have succeeded
  std::optional<std::uint64_t> files;  // regular files found after the last phase that writes files
  std::optional<std::uint64_t> directories;
  double mkfs_seconds = 0;
  std::vector<PhaseRecord> phases;
};

/// Something on the device that the format destroyed.
struct Signature {
  std::string type;   // as libblkid names it: "ext4", "dos", "zfs_member"
  std::string usage;  // "filesystem", "raid", "partition table", ...
  std::string label;
  std::string uuid;
};

struct DeviceRecord {
  std::string given;        // as on the command line
  std::string resolved;     // the node, e.g. /dev/loop0
  std::string kind;         // block, loop, ram, directory
  std::string major_minor;  // "7:0"
  std::uint64_t size_bytes = 0;
  std::string backing;  // the file behind a loop device
  std::string model, serial, by_id;
  // From /sys/block/NAME/queue; of a partition its disk's.
  std::string scheduler;    // the one in use, e.g. "mq-deadline"
  std::string write_cache;  // "write back" or "write through"
  std::optional<bool> rotational;
  std::optional<std::uint64_t> queue_depth;  // nr_requests
  std::optional<std::uint64_t> logical_sector_bytes, physical_sector_bytes;
  // Of loop devices.
  std::optional<bool> direct_io;     // no second page cache below the file system
  std::optional<bool> preallocated;  // the backing file has all its blocks when the phases begin
  std::string backing_filesystem;    // what the backing file lies on, e.g. "ext4"
  std::vector<Signature> destroyed;
};

struct MkfsRecord {
  std::vector<std::string> argv;
  std::vector<std::string> options;  // of these, the words that the user asked for
  std::string version;
  double seconds = 0;                       // sum over the passes
  std::optional<bool> lazy_initialisation;  // ext4 writes its tables behind the phases' back; null: has no such thing
};

struct MountRecord {
  std::string point;
  std::string requested;  // the options asked for, comma-separated
  std::string effective;  // as the kernel lists them
  std::string version;    // of libmount
  std::vector<std::string>
      settings;  // "compression=off": properties of file systems that have them beside mount options
};

struct HostRecord {
  std::string name, kernel, machine;
  std::string distribution;  // PRETTY_NAME of os-release(5)
  std::string cpu_model;
  std::optional<std::uint64_t> cpus;                 // that this process may use
  std::optional<std::uint64_t> memory_bytes;         // the machine's, or less if a cgroup allows less
  std::string virtualisation;                        // "kvm", "docker", ...; "none" on bare metal; empty when not known
  std::string clock_source;                          // e.g. "tsc"
  std::optional<std::uint64_t> clock_resolution_ns;  // the smallest step of CLOCK_MONOTONIC that was seen
  std::string governor;                              // of CPU frequency, e.g. "performance"
  std::optional<double> load;                        // 1-minute load average before the start
  std::vector<std::string> mitigations;              // "meltdown: Mitigation: PTI", of those that are in force
};

struct RunRecord {
  int schema = 2;
  std::string run_id;      // 20261130T165001Z-1a2b3c; sorts by time
  std::string started_at;  // UTC, 2026-11-30T16:50:01Z
  std::string ended_at;
  std::string utc_offset;  // of the local time at the start, +01:00; empty: not known
  std::string mongo_version;
  std::string log;
  Status status = Status::ok;
  std::string reason;
  std::vector<std::string> notes;     // what happened on the way and is no error: a wait, something destroyed
  std::vector<std::string> flags;     // what holds for all figures of this run, e.g. "loop-device"
  std::vector<std::string> warnings;  // what may have disturbed it: "load of 2.3 before the start"
  HostRecord host;
  DeviceRecord device;
  std::string environment = "host";  // where the phases ran: host, or uml, a User-mode Linux guest
  std::string guest_kernel;          // of the guest, e.g. "Linux 6.1.176"; empty on the host
  std::string filesystem;
  std::string implementation;  // where there are several, with its version: "zfs-fuse 0.7.0"
  MkfsRecord mkfs;
  MountRecord mount;
  int processes = 1;
  int repetitions = 3;
  std::string profile;
  std::string content = "random";               // of the files: random, letter-a, zero, compressible:PCT
  std::string sync = "phase";                   // each: fsync after each file; phase: syncfs after each phase; none
  bool verify = false;                          // content was compared after the phases
  std::optional<double> phase_timeout_seconds;  // null: the default of a day
  std::vector<PassRecord> passes;
};

}  // namespace mongo
