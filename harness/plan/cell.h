#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fsdrivers/driver.h"
#include "harness/core/device_spec.h"
#include "harness/plan/cache_policy.h"
#include "harness/plan/profile.h"
#include "phases/support/content.h"

namespace mongo {

/// A run as the user wrote it.
struct RunRequest {
  std::string filesystem, device, mount_point, log, processes;
  std::string profile = "classic";
  std::optional<std::string> phases;       // comma-separated names
  std::optional<std::string> repetitions;  // a decimal number
  std::string mkfs_options;                // words as a shell would split them
  std::string mount_options;               // comma-separated
  std::string results = "results";
  bool destroy = false;
  bool latency = true;                       // measure how long each operation takes
  std::optional<std::string> cache;          // a policy, or PHASE=POLICY, comma-separated
  std::optional<std::string> sync;           // each, phase or none
  std::optional<std::string> content;        // random, letter-a, zero or compressible:PCT
  std::optional<std::string> phase_timeout;  // seconds
  std::optional<std::string> sector_size;    // of loop devices that the tool attaches
  bool sparse = false;                       // do not preallocate their files
  bool verify = false;                       // compare content after the phases
  std::optional<std::string> environment;    // host, uml or auto
  // In place of the profile's own numbers; see TreeParameters.
  std::optional<std::string> median_file_sizes;  // comma-separated sizes, one pass each
  std::optional<std::string> bytes_per_tree;     // a size, for all passes
  std::optional<std::string> max_file_size;      // a size
  std::optional<std::string> median_dir_files, max_dir_files, median_dir_branching, max_dir_branching;  // numbers
  std::optional<std::string> write_size;  // a size: of the buffer with which files are written, copied and read
};

/// Where the phases run.
enum class Environment {
  automatic,  // on the host where it can, else in a guest where that can
  host,
  uml,  // in a User-mode Linux guest
};

/// When data is made to reach the device.
enum class SyncPolicy {
  each,   // fsync(2) of each file before it is closed, inside the phase's time
  phase,  // syncfs(2) after each phase, outside its time
  none,   // not at all
};
const char* sync_policy_name(SyncPolicy policy);

/// One run with everything decided that can be decided without looking at the host.
struct Cell {
  const fsdrivers::FilesystemDriver* driver = nullptr;
  DeviceSpec device;
  std::string mount_point;
  std::string log;
  int processes = 1;
  int repetitions = 3;
  Profile profile;
  std::vector<const phases::Phase*> phases;  // in the order in which they run
  std::vector<std::string> mkfs_options;
  std::string mount_options;  // the driver's and the user's
  std::string results;
  std::string device_number;  // "8:16": what the device must turn out to be; empty: any
  bool destroy = false;
  bool latency = true;
  CachePolicies cache;
  SyncPolicy sync = SyncPolicy::phase;
  phases::ContentSpec content;
  bool verify = false;
  std::optional<int> phase_timeout_seconds;
  unsigned sector_size = 512;  // bytes
  bool sparse = false;
  Environment environment = Environment::automatic;
  RunRequest request;  // what all of this was made from
};

inline constexpr int max_processes = 1000;
inline constexpr int max_repetitions = 1000;
inline constexpr int max_phase_timeout_seconds = 7 * 24 * 3600;

/// Throws UsageError that names the argument, what is wrong with it and what is allowed. Touches nothing.
Cell resolve(const RunRequest& request);

/// The lists of what may be said to mkfs and mount: see check_mkfs_options and check_mount_options. Throws UsageError
/// that begins with the option's name and ": ". What is let through may still be refused by mkfs or by the kernel.
void check_options(const Cell& cell);

/// A whole decimal number from `least` to `most`: digits only, no sign, no blank, no leading zero. `what` names it in
/// the error.
int parse_count(const std::string& text, const std::string& what, int least, int most);

/// Bytes of file data that lie on the file system when all its writing phases have succeeded, in the largest pass.
std::uint64_t working_set_bytes(const Cell& cell);

/// "Creates 68952 files ...": one line a pass, for --dry-run.
std::string describe_pass(const Cell& cell, const phases::TreeParameters& tree);

}  // namespace mongo
