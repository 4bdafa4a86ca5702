#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <boost/filesystem.hpp>
#include <cerrno>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/errors.h"
#include "harness/device/guard.h"
#include "harness/device/kernel_view.h"

// A made-up machine: /proc, /sys and /dev/disk as files in a temporary folder, everything else as answers of a made-up
// kernel.

namespace mongo::fake {

namespace fs = boost::filesystem;

class Kernel : public KernelView {
 public:
  std::map<std::string, NodeStat> nodes;              // by path
  std::map<std::string, std::string> links;           // path -> where it leads
  std::map<std::string, OpenResult> devices;          // by path: the answer to any open...
  std::map<std::pair<std::string, int>, int> errors;  // ...unless this path and flags fail so
  std::map<std::string, LoopBacking> loops;
  std::map<std::string, std::vector<Signature>> written;
  std::map<std::string, std::uint64_t> data;  // by path: where anything is written, without a signature
  mutable int looks_for_data = 0;
  bool privileged = true;
  std::string unreadable;       // signatures of this path cannot be read
  std::string unreadable_data;  // nor its data

  std::string real_path(const std::string& path) const override {
    const auto found = links.find(path);
    return found == links.end() ? path : real_path(found->second);
  }
  NodeStat stat(const std::string& path) const override {
    const auto found = nodes.find(real_path(path));
    return found == nodes.end() ? NodeStat{.error = ENOENT} : found->second;
  }
  OpenResult open_device(const std::string& path, int flags) const override {
    const auto error = errors.find({path, flags});
    if (error != errors.end()) return {.error = error->second};
    const auto found = devices.find(path);
    return found == devices.end() ? OpenResult{.error = ENOENT} : found->second;
  }
  LoopBacking loop_backing(const std::string& path) const override {
    const auto found = loops.find(path);
    return found == loops.end() ? LoopBacking{.error = ENXIO} : found->second;
  }
  bool may_look_at_processes() const override { return privileged; }
  std::vector<Signature> signatures(const std::string& path) const override {
    if (path == unreadable) throw RunError("probe", path + ": Input/output error");
    const auto found = written.find(path);
    return found == written.end() ? std::vector<Signature>{} : found->second;
  }
  std::optional<std::uint64_t> first_data(const std::string& path) const override {
    ++looks_for_data;
    if (path == unreadable_data) throw RunError("probe", path + ": Input/output error");
    const auto found = data.find(path);
    return found == data.end() ? std::nullopt : std::optional<std::uint64_t>(found->second);
  }

  void add_device(const std::string& path, dev_t rdev, std::uint64_t size = 1u << 30) {
    nodes[path] = {.error = 0, .mode = S_IFBLK | 0600, .device = makedev(0, 6), .inode = 100 + rdev, .rdev = rdev};
    devices[path] = {.error = 0, .rdev = rdev, .read_only = false, .size_bytes = size};
  }
  void add_file(const std::string& path, mode_t mode, dev_t device = makedev(254, 0), ino_t inode = 1) {
    nodes[path] = {.error = 0, .mode = mode, .device = device, .inode = inode, .rdev = 0};
  }
};

/// A machine with an idle disk sdb (8:16) and its partition sdb1 (8:17); the system runs from vda (254:0).
class Machine {
 public:
  Machine() : folder_((fs::temp_directory_path() / fs::unique_path("mongo-fake-%%%%%%%%")).string()) {
    kernel->add_file("/", S_IFDIR | 0755);
    add_disk("vda", makedev(254, 0));
    add_disk("sdb", makedev(8, 16));
    add_partition("sdb", "sdb1", makedev(8, 17));
    write("proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n");
    add_process("self", "mongo", own_mounts);
    add_process("1", "init", own_mounts);
  }
  ~Machine() {
    boost::system::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  static constexpr const char* own_mounts = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n";

  void write(const std::string& path, const std::string& text) const {
    const fs::path file = fs::path(folder_) / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file.string(), std::ios::binary) << text;
  }
  void link(const std::string& path, const std::string& target) const {
    const fs::path file = fs::path(folder_) / path;
    fs::create_directories(file.parent_path());
    fs::remove(file);
    fs::create_symlink(target, file);
  }
  void make_folder(const std::string& path) const { fs::create_directories(fs::path(folder_) / path); }
  void remove(const std::string& path) const { fs::remove_all(fs::path(folder_) / path); }

  void add_block(const std::string& device_folder, const std::string& name, dev_t rdev) const {
    write(device_folder + "/dev", fmt::format("{}:{}\n", major(rdev), minor(rdev)));
    write(device_folder + "/ro", "0\n");
    make_folder(device_folder + "/holders");
    link(fmt::format("sys/dev/block/{}:{}", major(rdev), minor(rdev)), folder_ + "/" + device_folder);
    kernel->add_device("/dev/" + name, rdev);
  }
  void add_disk(const std::string& name, dev_t rdev) const {
    add_block("sys/devices/virtual/block/" + name, name, rdev);
    link("sys/block/" + name, folder_ + "/sys/devices/virtual/block/" + name);
  }
  void add_partition(const std::string& disk, const std::string& name, dev_t rdev, std::uint64_t start = 0) const {
    // One after the other unless told otherwise
    const std::uint64_t size = 1 << 20;
    const std::uint64_t begin = start != 0 ? start : 2048 + static_cast<std::uint64_t>(minor(rdev)) * size;
    write(sys(disk) + "/" + name + "/start", fmt::format("{}\n", begin));
    write(sys(disk) + "/" + name + "/size", fmt::format("{}\n", size));
    add_block(sys(disk) + "/" + name, name, rdev);
    write(sys(disk) + "/" + name + "/partition", "1\n");
  }
  static std::string sys(const std::string& disk) { return "sys/devices/virtual/block/" + disk; }

  /// A loop device over a file, or over a block device when rdev is given.
  void add_loop(int number, const std::string& file, ino_t inode, dev_t rdev = 0) const {
    const std::string name = fmt::format("loop{}", number);
    add_disk(name, makedev(7, number));
    write(sys(name) + "/loop/backing_file", file + "\n");
    kernel->loops["/dev/" + name] = {.error = 0, .device = makedev(254, 0), .inode = inode, .rdev = rdev};
  }

  void add_process(const std::string& pid, const std::string& program, const std::string& mounts,
                   const std::string& name_space = "mnt:[1]") const {
    write("proc/" + pid + "/comm", program + "\n");
    write("proc/" + pid + "/mountinfo", mounts);
    link("proc/" + pid + "/ns/mnt", name_space);
    make_folder("proc/" + pid + "/fd");
    kernel->add_file("/proc/" + pid + "/root", S_IFDIR | 0755, makedev(254, 0), 2);
  }
  /// A process has a device open.
  void add_opener(const std::string& pid, const std::string& program, const NodeStat& node, int flags) const {
    add_process(pid, program, own_mounts);
    write("proc/" + pid + "/fd/5", "");
    write("proc/" + pid + "/fdinfo/5", fmt::format("pos:\t0\nflags:\t0{:o}\nmnt_id:\t20\n", flags));
    kernel->nodes["/proc/" + pid + "/fd/5"] = node;
  }

  Guard guard(bool destroy = false, std::vector<std::string> keep_paths = {}) const {
    return Guard({.root = folder_, .destroy = destroy, .keep_paths = std::move(keep_paths)}, kernel);
  }
  std::optional<Refusal> check(const std::string& path, bool destroy = false) const {
    const Guard guard_now = guard(destroy);
    return guard_now.check(guard_now.resolve(path));
  }
  const std::string& folder() const { return folder_; }

  std::shared_ptr<Kernel> kernel = std::make_shared<Kernel>();

 private:
  std::string folder_;
};

}  // namespace mongo::fake
