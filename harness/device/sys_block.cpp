#include "harness/device/sys_block.h"

#include <fmt/format.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <boost/filesystem.hpp>
#include <cerrno>
#include <charconv>
#include <cstdio>

#include "harness/core/errors.h"
#include "harness/device/system_files.h"

namespace mongo {

namespace fs = boost::filesystem;

namespace {

[[noreturn]] void cannot_read(const std::string& path, int error) {
  throw CannotTell(fmt::format("{} cannot be read: {}", path, errno_text(error)), path);
}

bool exists(const std::string& path) {
  boost::system::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_not_found) return false;
  if (status.type() == fs::status_error) cannot_read(path, error.value());
  return true;
}

}  // namespace

std::string major_minor_text(dev_t device) { return fmt::format("{}:{}", major(device), minor(device)); }

std::string SysBlock::node() const {
  std::string path = name;
  std::replace(path.begin(), path.end(), '!', '/');
  return "/dev/" + path;
}

SysBlocks::SysBlocks(std::string root) : root_(std::move(root)) {
  while (!root_.empty() && root_.back() == '/') root_.pop_back();
}

SysBlock SysBlocks::look(const std::string& folder) const {
  const std::string file = folder + "/dev";
  const devio::FileText text = devio::read_file(file);
  if (text.error != 0) cannot_read(file, text.error);
  unsigned major_number = 0, minor_number = 0;
  if (std::sscanf(text.text.c_str(), "%u:%u", &major_number, &minor_number) != 2) {
    throw CannotTell(file + " holds no device number", file);
  }
  return {makedev(major_number, minor_number), fs::path(folder).filename().string(), folder,
          exists(folder + "/partition")};
}

SysBlock SysBlocks::find(dev_t device) const {
  const std::string link = root_ + "/sys/dev/block/" + major_minor_text(device);
  const devio::FileText folder = devio::real_path(link);
  if (folder.error != 0) cannot_read(link, folder.error);
  SysBlock found = look(folder.text);
  if (found.rdev != device) throw CannotTell(link + " shows another device", link);
  return found;
}

std::optional<SysBlock> SysBlocks::disk_of(const SysBlock& block) const {
  if (!block.partition) return std::nullopt;
  return look(fs::path(block.folder).parent_path().string());
}

std::vector<SysBlock> SysBlocks::partitions_of(const SysBlock& block) const {
  std::vector<SysBlock> partitions;
  if (block.partition) return partitions;
  const devio::Names names = devio::list_names(block.folder);
  if (names.error != 0) cannot_read(block.folder, names.error);
  for (const std::string& name : names.names) {
    const std::string folder = block.folder + "/" + name;
    boost::system::error_code ignored;
    // Not through links: "subsystem" and "device" lead elsewhere.
    if (!fs::is_directory(fs::symlink_status(folder, ignored)) || !exists(folder + "/partition")) continue;
    partitions.push_back(look(folder));
  }
  return partitions;
}

std::uint64_t SysBlocks::number(const SysBlock& block, const std::string& name) const {
  const std::string file = block.folder + "/" + name;
  const devio::FileText text = devio::read_file(file);
  if (text.error != 0) cannot_read(file, text.error);
  const std::string digits = devio::trimmed(text.text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) throw CannotTell(file + " holds no number", file);
  return value;
}

bool SysBlocks::overlap(const SysBlock& a, const SysBlock& b) const {
  const std::uint64_t a_start = number(a, "start"), b_start = number(b, "start");
  return a_start < b_start + number(b, "size") && b_start < a_start + number(a, "size");
}

std::vector<std::string> SysBlocks::holders_of(const SysBlock& block) const {
  const std::string folder = block.folder + "/holders";
  const devio::Names names = devio::list_names(folder);
  if (names.error != 0) cannot_read(folder, names.error);
  std::vector<std::string> holders;
  for (const std::string& name : names.names) {
    const auto line = [&](const char* file) {
      return devio::trimmed(devio::read_file(folder + "/" + name + file).text);
    };
    const std::string mapping = line("/dm/name");
    const std::string level = line("/md/level");
    holders.push_back(!mapping.empty() ? fmt::format("{} ({})", name, devio::printable(mapping))
                      : !level.empty() ? fmt::format("{} ({})", name, devio::printable(level))
                                       : name);
  }
  return holders;
}

bool SysBlocks::read_only(const SysBlock& block) const {
  const std::string file = block.folder + "/ro";
  const devio::FileText text = devio::read_file(file);
  if (text.error != 0) cannot_read(file, text.error);
  return devio::trimmed(text.text) != "0";
}

std::vector<SysBlock> SysBlocks::attached_loops() const {
  const std::string folder = root_ + "/sys/block";
  const devio::Names names = devio::list_names(folder);
  if (names.error != 0) cannot_read(folder, names.error);
  std::vector<SysBlock> loops;
  for (const std::string& name : names.names) {
    if (!name.starts_with("loop")) continue;
    const devio::FileText device = devio::real_path(folder + "/" + name);
    if (device.error == ENOENT) continue;  // removed since the listing
    if (device.error != 0) cannot_read(folder + "/" + name, device.error);
    if (!exists(device.text + "/loop/backing_file")) continue;
    loops.push_back(look(device.text));
  }
  return loops;
}

std::optional<std::string> SysBlocks::backing_file(const SysBlock& block) const {
  const std::string file = block.folder + "/loop/backing_file";
  const devio::FileText text = devio::read_file(file);
  if (text.error == ENOENT || text.error == ENXIO || text.error == ENODEV) return std::nullopt;
  if (text.error != 0) cannot_read(file, text.error);
  std::string path = text.text;
  if (!path.empty() && path.back() == '\n') path.pop_back();
  return path;
}

std::string SysBlocks::text(const SysBlock& block, const std::string& file) const {
  return devio::printable(devio::trimmed(devio::read_file(block.folder + "/" + file).text));
}

}  // namespace mongo
