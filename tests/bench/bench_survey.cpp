// What the survey costs, beside filefrag(8) over the same files, and whether memory grows with their number.
//
//   bench_survey [FILES]
//
// As root. Makes FILES (default 1,000,000) files of 0, 0, 100 and 5000 bytes in turn, 1000 a directory, on an ext4 on a
// loop device in memory, and in turn, three times each, times
//   - the survey, in a process of its own, and
//   - cd MOUNT && find . -type f -print0 | xargs -0 filefrag > /dev/null
// with everything cached (as it is after a phase), and once each after a remount. The ratio is of the medians. Beside
// it stands what a bare loop takes that does nothing but open, FIEMAP and close, once a file, from a list made
// beforehand: no program that asks for each file's extents is faster. CPU seconds are user and system time of all
// processes. Peak memory is VmHWM of a process that does nothing else, with 10,000 files and with FILES; for the worker
// of the create phase it is ru_maxrss of the process that the harness starts.

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/filesystem.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/core/device_spec.h"
#include "harness/device/loop.h"
#include "harness/measure/extents.h"
#include "harness/measure/space.h"
#include "harness/measure/survey.h"
#include "harness/workers/workers.h"
#include "phases/catalogue.h"

namespace {

using namespace mongo;
using Clock = std::chrono::steady_clock;

constexpr double goal_speed = 5;
constexpr double goal_growth = 1.05;
constexpr std::uint64_t few_files = 10000;
constexpr std::uint64_t files_a_directory = 1000;

void check(bool well, const std::string& what) {
  if (!well) throw std::runtime_error(what + ": " + std::strerror(errno));
}

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::uint64_t peak_kib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word && word != "VmHWM:") {
  }
  std::uint64_t kib = 0;
  status >> kib;
  return kib;
}

// The work of a process of its own, started as `bench_survey survey DIRECTORY`, `... bare DIRECTORY` or `... create
// DIRECTORY FILES`. Each prints its peak memory in KiB, its files and the seconds that count.

int survey_only(const char* directory) {
  const auto start = Clock::now();
  const int root = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  check(root >= 0, directory);
  const InterruptWatch watch;
  const Survey survey = survey_filesystem(root, watch);
  if (!survey.fragmentation.all_files.ratio) {
    std::fprintf(stderr, "no figure: %s\n", survey.fragmentation.reason.c_str());
    return 1;
  }
  std::printf("%lu %lu %f\n", peak_kib(), survey.files, since(start));
  return 0;
}

int bare_only(const char* directory) {
  namespace fs = boost::filesystem;
  std::vector<std::pair<std::string, std::vector<std::string>>> list;
  std::uint64_t files = 0;
  for (const auto& entry : fs::directory_iterator(directory)) {
    auto& [name, names] = list.emplace_back(entry.path().string(), std::vector<std::string>());
    for (const auto& file : fs::directory_iterator(entry)) {
      if (fs::file_size(file) > 0) names.push_back(file.path().filename().string());
    }
    files += names.size();
  }
  ExtentReader reader;
  FileExtents extents;
  bool well = true;
  const auto start = Clock::now();
  for (const auto& [name, names] : list) {
    well &= chdir(name.c_str()) == 0;
    for (const std::string& file : names) {
      const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOATIME);
      well &= reader.read(fd, 0, extents) == 0;
      close(fd);
    }
  }
  std::printf("%lu %lu %f\n", peak_kib(), files, since(start));
  return well ? 0 : 1;
}

int create_only(const char* directory, std::uint64_t files) {
  RepetitionRequest request;
  request.phase = phases::find("create");
  request.mount_path = directory;
  request.mount_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  check(request.mount_fd >= 0, directory);
  // classic-100 at another size, with some 1068 bytes a file.
  request.tree = {.bytes_to_consume = files * 1068,
                  .median_file_size = 100,
                  .max_file_size = 100000,
                  .median_dir_files = 100,
                  .max_dir_files = 10000,
                  .median_dir_branching = 0,
                  .max_dir_branching = 1};
  const InterruptWatch watch;
  const RepetitionResult result = run_repetition(request, watch);
  if (!result.errors.empty()) throw std::runtime_error("create: " + result.errors[0].name);
  if (!result.failure.empty()) throw std::runtime_error("create: " + result.failure);
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  std::printf("%ld %lu %f\n", usage.ru_maxrss, result.files, result.seconds);
  return 0;
}

struct Outcome {
  std::uint64_t peak_kib = 0, files = 0;
  double seconds = 0, cpu_seconds = 0;
};

double children_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Outcome run_self(const std::string& words) {
  const std::string command = boost::filesystem::read_symlink("/proc/self/exe").string() + " " + words;
  const double cpu_before = children_cpu_seconds();
  FILE* const pipe = popen(command.c_str(), "re");
  check(pipe != nullptr, command);
  Outcome outcome;
  const bool well = std::fscanf(pipe, "%lu %lu %lf", &outcome.peak_kib, &outcome.files, &outcome.seconds) == 3;
  check(pclose(pipe) == 0 && well, command);
  outcome.cpu_seconds = children_cpu_seconds() - cpu_before;
  return outcome;
}

Outcome run_filefrag(const std::string& directory) {
  const double cpu_before = children_cpu_seconds();
  const auto start = Clock::now();
  const std::string command = "cd '" + directory + "' && find . -type f -print0 | xargs -0 filefrag > /dev/null";
  check(std::system(command.c_str()) == 0, command);
  Outcome outcome;
  outcome.seconds = since(start);
  outcome.cpu_seconds = children_cpu_seconds() - cpu_before;
  return outcome;
}

/// An ext4 in memory, mounted; gone with this object.
class MountedExt4 {
 public:
  MountedExt4(const std::string& size, std::uint64_t files) {
    LoopOptions options;
    options.preallocate = false;
    device_ = LoopDevice::attach(parse_device_spec("ram:" + size), {}, options);
    const std::string mkfs =
        "mkfs.ext4 -q -F -E lazy_itable_init=0 -N " + std::to_string(files + files / 50 + 1000) + " " + device_->node();
    check(std::system(mkfs.c_str()) == 0, mkfs);
    char name[] = "/var/tmp/mongo-bench-XXXXXX";
    check(mkdtemp(name) != nullptr, name);
    path_ = name;
    mount_again();
  }
  ~MountedExt4() {
    if (mounted_) umount(path_.c_str());
    rmdir(path_.c_str());
  }
  MountedExt4(const MountedExt4&) = delete;
  MountedExt4& operator=(const MountedExt4&) = delete;

  const std::string& path() const { return path_; }

  void mount_again() {
    if (mounted_) check(umount(path_.c_str()) == 0, "umount");
    mounted_ = false;
    check(::mount(device_->node().c_str(), path_.c_str(), "ext4", MS_NOATIME, nullptr) == 0, "mount");
    mounted_ = true;
  }

  void sync() const {
    const int fd = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    sync_filesystem(fd);
    close(fd);
  }

 private:
  std::unique_ptr<LoopDevice> device_;
  std::string path_;
  bool mounted_ = false;
};

void make_files(const MountedExt4& target, std::uint64_t first, std::uint64_t end) {
  const std::string data(5000, 'x');
  constexpr std::size_t sizes[] = {0, 0, 100, 5000};
  std::string directory;
  for (std::uint64_t i = first; i < end; ++i) {
    if (i == first || i % files_a_directory == 0) {
      directory = target.path() + "/d" + std::to_string(i / files_a_directory);
      mkdir(directory.c_str(), 0755);
    }
    const std::string file = directory + "/" + std::to_string(i);
    const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    check(fd >= 0, file);
    const std::size_t size = sizes[i % 4];
    if (size > 0) check(write(fd, data.data(), size) == static_cast<ssize_t>(size), file);
    close(fd);
  }
  target.sync();
}

/// That of the middle in time.
Outcome median(std::vector<Outcome> outcomes) {
  std::sort(outcomes.begin(), outcomes.end(), [](const Outcome& a, const Outcome& b) { return a.seconds < b.seconds; });
  return outcomes[outcomes.size() / 2];
}

void print_speed(const char* state, const Outcome& survey, const Outcome& filefrag) {
  const double ratio = filefrag.seconds / survey.seconds;
  std::printf("%-16s survey %.3f s (CPU %.3f), filefrag %.3f s (CPU %.3f), ratio %.2f (goal %.0f: %s)\n", state,
              survey.seconds, survey.cpu_seconds, filefrag.seconds, filefrag.cpu_seconds, ratio, goal_speed,
              ratio >= goal_speed ? "met" : "NOT MET");
}

void print_memory(const char* what, const Outcome& few, const Outcome& many) {
  const double ratio = static_cast<double>(many.peak_kib) / static_cast<double>(few.peak_kib);
  std::printf("%-16s peak %lu KiB with %lu files, %lu KiB with %lu, ratio %.3f (goal %.2f: %s)\n", what, few.peak_kib,
              few.files, many.peak_kib, many.files, ratio, goal_growth, ratio <= goal_growth ? "met" : "NOT MET");
}

void compare(std::uint64_t files) {
  const std::string size = std::to_string(std::max<std::uint64_t>(256, files * 6 / 1000)) + "MiB";
  {
    MountedExt4 target(size, files);
    make_files(target, 0, std::min(files, few_files));
    const Outcome few = run_self("survey " + target.path());
    make_files(target, std::min(files, few_files), files);
    const Outcome many = run_self("survey " + target.path());
    std::vector<Outcome> survey, filefrag, bare;
    for (int round = 0; round < 3; ++round) {
      survey.push_back(run_self("survey " + target.path()));
      filefrag.push_back(run_filefrag(target.path()));
      bare.push_back(run_self("bare " + target.path()));
    }
    std::printf("%lu files; filefrag: find . -type f -print0 | xargs -0 filefrag > /dev/null\n", many.files);
    print_speed("all cached", median(survey), median(filefrag));
    const double least = median(bare).seconds;
    std::printf("%-16s %.3f s: no ratio above %.2f is to be had with one FIEMAP a file\n", "bare loop", least,
                median(filefrag).seconds / least);
    target.mount_again();
    const Outcome cold_survey = run_self("survey " + target.path());
    target.mount_again();
    print_speed("after a remount", cold_survey, run_filefrag(target.path()));
    print_memory("survey", few, many);
  }
  MountedExt4 small(size, few_files * 2), large(size, files * 2);
  const Outcome few = run_self("create " + small.path() + " " + std::to_string(std::min(files, few_files)));
  const Outcome many = run_self("create " + large.path() + " " + std::to_string(files));
  print_memory("create's worker", few, many);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "1000000";
  try {
    if (argc == 3 && first == "survey") return survey_only(argv[2]);
    if (argc == 3 && first == "bare") return bare_only(argv[2]);
    if (argc == 4 && first == "create") return create_only(argv[2], std::stoull(argv[3]));
    if (argc > 2 || first.empty() || first.find_first_not_of("0123456789") != std::string::npos || first.size() > 8) {
      std::fprintf(stderr, "usage: bench_survey [FILES]   (as root; 1000000 files)\n");
      return 2;
    }
    compare(std::stoull(first));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_survey: %s\n", error.what());
    return 1;
  }
}
