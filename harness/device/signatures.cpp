#include "harness/device/signatures.h"

#include <blkid/blkid.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "harness/core/errors.h"
#include "harness/device/blank.h"
#include "harness/device/system_files.h"

namespace mongo {

namespace {

// A ZFS member has 4 rings of 128 magic numbers that are wiped one by one; with the others this leaves room.
constexpr int most_signatures = 2048;
constexpr std::uint64_t zfs_label_bytes = 256 * 1024;

struct ProbeFree {
  void operator()(blkid_probe probe) const { blkid_free_probe(probe); }
};
using Probe = std::unique_ptr<std::remove_pointer_t<blkid_probe>, ProbeFree>;

// As wipefs(8) asks: also what has a bad checksum, and a GPT whose protective MBR is gone.
Probe make_probe(int fd, const std::string& path, const std::string& step) {
  Probe probe(blkid_new_probe());
  const auto fail = [&](const char* what) {
    throw RunError(step, fmt::format("{}: libblkid: {} failed: {}. It cannot be told what is on the device.", path,
                                     what, errno_text(errno)));
  };
  if (!probe) fail("blkid_new_probe");
  errno = 0;
  if (blkid_probe_set_device(probe.get(), fd, 0, 0) != 0) fail("blkid_probe_set_device");
  if (blkid_probe_enable_superblocks(probe.get(), 1) != 0 ||
      blkid_probe_set_superblocks_flags(probe.get(), BLKID_SUBLKS_LABEL | BLKID_SUBLKS_UUID | BLKID_SUBLKS_TYPE |
                                                         BLKID_SUBLKS_SECTYPE | BLKID_SUBLKS_USAGE |
                                                         BLKID_SUBLKS_MAGIC | BLKID_SUBLKS_BADCSUM) != 0 ||
      blkid_probe_enable_partitions(probe.get(), 1) != 0 ||
      blkid_probe_set_partitions_flags(probe.get(), BLKID_PARTS_MAGIC | BLKID_PARTS_FORCE_GPT) != 0) {
    fail("setting up the probe");
  }
  return probe;
}

std::string value_of(blkid_probe probe, const char* name) {
  const char* data = nullptr;
  std::size_t length = 0;
  if (blkid_probe_lookup_value(probe, name, &data, &length) != 0 || data == nullptr) return {};
  const std::string value(data, length);
  return value.substr(0, value.find('\0'));
}

Signature current_signature(blkid_probe probe) {
  Signature found{value_of(probe, "TYPE"), value_of(probe, "USAGE"), value_of(probe, "LABEL"), value_of(probe, "UUID")};
  if (found.type.empty()) {
    found = {value_of(probe, "PTTYPE"), "partition table", "", value_of(probe, "PTUUID")};
  }
  return found;
}

// Goes on to the next signature. False after the last one.
bool next_signature(blkid_probe probe, const std::string& path, const std::string& step) {
  errno = 0;
  const int answer = blkid_do_probe(probe);
  if (answer == 0) return true;
  if (answer == 1) return false;
  throw RunError(step,
                 fmt::format("{}: libblkid could not read the device: {}. It cannot be told what is on it; look at "
                             "the kernel log (dmesg) for read errors.",
                             path, errno != 0 ? errno_text(errno) : fmt::format("error {}", answer)));
}

bool same(const Signature& a, const Signature& b) {
  return a.type == b.type && a.usage == b.usage && a.label == b.label && a.uuid == b.uuid;
}

std::vector<Signature> signatures_of(int fd, const std::string& path, const std::string& step) {
  const Probe probe = make_probe(fd, path, step);
  std::vector<Signature> found;
  for (int turn = 0; next_signature(probe.get(), path, step); ++turn) {
    if (turn >= most_signatures) throw RunError(step, path + ": libblkid finds no end of signatures");
    const Signature signature = current_signature(probe.get());
    // Something without a name is something all the same, and a refusal has to be able to say so.
    const bool known =
        std::any_of(found.begin(), found.end(), [&](const auto& other) { return same(other, signature); });
    if (!known) found.push_back(signature);
  }
  return found;
}

void write_zeros(int fd, std::uint64_t offset, std::uint64_t length, const std::string& path) {
  static const std::array<char, 65536> zeros{};
  while (length > 0) {
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(length, zeros.size()));
    const ssize_t wrote = pwrite(fd, zeros.data(), part, static_cast<off_t>(offset));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      throw RunError("wipe", fmt::format("{}: writing zeros at byte {} failed: {}", path, offset, errno_text(errno)));
    }
    offset += static_cast<std::uint64_t>(wrote);
    length -= static_cast<std::uint64_t>(wrote);
  }
}

// All four labels, whole, as zpool labelclear does: libblkid needs four uberblocks to see a pool, zpool only one label.
// Source: "ZFS On-Disk Specification", chapter 1.
void wipe_zfs_labels(int fd, std::uint64_t size, const std::string& path) {
  const std::uint64_t aligned = size - size % zfs_label_bytes;
  if (aligned < 4 * zfs_label_bytes) return;
  write_zeros(fd, 0, 2 * zfs_label_bytes, path);
  write_zeros(fd, aligned - 2 * zfs_label_bytes, 2 * zfs_label_bytes, path);
}

std::string join_descriptions(const std::vector<Signature>& signatures) {
  std::string text;
  for (const Signature& signature : signatures) text += (text.empty() ? "" : "; ") + describe(signature);
  return text;
}

bool has_own_uuid(const std::string& uuid) {
  static const std::string pattern = "6d6f6e67-6f2d-8xxx-Vxxx-xxxxxxxxxxxx";
  if (uuid.size() != pattern.size()) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = uuid[i];
    const bool hexadecimal = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    const bool fits = pattern[i] == 'x'   ? hexadecimal
                      : pattern[i] == 'V' ? c == '8' || c == '9' || c == 'a' || c == 'b'
                                          : c == pattern[i];
    if (!fits) return false;
  }
  return true;
}

}  // namespace

std::vector<Signature> read_signatures(const std::string& path) {
  const devio::FileDescriptor node(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!node.valid()) {
    throw RunError("probe", fmt::format("{}: cannot be opened for reading: {}. It cannot be told what is on it.", path,
                                        errno_text(errno)));
  }
  return signatures_of(node.get(), path, "probe");
}

void wipe_signatures(const std::string& path) {
  const devio::FileDescriptor node(open(path.c_str(), O_RDWR | O_EXCL | O_CLOEXEC));
  if (!node.valid()) {
    throw RunError(
        "wipe",
        fmt::format("{}: cannot be opened for exclusive writing: {}. Nothing was wiped.{}", path, errno_text(errno),
                    errno == EBUSY ? " Something uses the device; see what with lsblk and fuser." : ""));
  }
  // Without this check O_EXCL would mean nothing: it is only defined for block devices.
  struct stat info {};
  if (fstat(node.get(), &info) != 0 || !S_ISBLK(info.st_mode)) {
    throw RunError("wipe", path + ": is not a block device. Nothing was wiped.");
  }
  std::uint64_t size = 0;
  if (ioctl(node.get(), BLKGETSIZE64, &size) != 0) {
    throw RunError("wipe", fmt::format("{}: its size cannot be read: {}. Nothing was wiped.", path, errno_text(errno)));
  }
  make_blank(node.get(), path);
  const std::vector<Signature> before = signatures_of(node.get(), path, "wipe");
  if (std::any_of(before.begin(), before.end(), [](const auto& each) { return each.type == "zfs_member"; })) {
    wipe_zfs_labels(node.get(), size, path);
  }
  // blkid_do_wipe steps back by itself, so that the next turn finds what the wiped signature hid.
  const Probe probe = make_probe(node.get(), path, "wipe");
  for (int turn = 0; next_signature(probe.get(), path, "wipe"); ++turn) {
    const Signature signature = current_signature(probe.get());
    errno = 0;
    if (turn >= most_signatures || blkid_do_wipe(probe.get(), 0) != 0) {
      throw RunError("wipe",
                     fmt::format("{}: {} could not be wiped: {}", path, describe(signature), errno_text(errno)));
    }
  }
  if (fsync(node.get()) != 0) {
    throw RunError("wipe", fmt::format("{}: fsync failed: {}. See the kernel log (dmesg) for write errors.", path,
                                       errno_text(errno)));
  }
  // From the medium, not from the page cache.
  ioctl(node.get(), BLKFLSBUF, 0);
  const std::vector<Signature> left = signatures_of(node.get(), path, "wipe");
  if (!left.empty()) {
    throw RunError("wipe", fmt::format("{}: still there after wiping: {}. Does the device keep what is written? Try "
                                       "wipefs -a.",
                                       path, join_descriptions(left)));
  }
}

std::string make_uuid() {
  std::array<unsigned char, 16> bytes{'m', 'o', 'n', 'g', 'o', '-'};
  std::size_t filled = 6;
  while (filled < bytes.size()) {
    const ssize_t got = getrandom(bytes.data() + filled, bytes.size() - filled, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw RunError("uuid", "getrandom failed: " + errno_text(errno));
    filled += static_cast<std::size_t>(got);
  }
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x80);  // version 8
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);  // variant of RFC 9562
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

bool made_by_this_tool(const std::vector<Signature>& signatures) {
  if (signatures.empty()) return true;
  const Signature& only = signatures.front();
  // A pool has neither a label nor a UUID that can be chosen, but a name.
  const std::string prefix = "mongo-";
  if (signatures.size() == 1 && only.type == "zfs_member" && only.label.starts_with(prefix)) {
    return has_own_uuid(only.label.substr(prefix.size()));
  }
  return signatures.size() == 1 && only.usage == "filesystem" && only.label == "mongo" && has_own_uuid(only.uuid);
}

std::string describe(const Signature& signature) {
  const std::string type = signature.type.empty() ? "something without a name" : devio::printable(signature.type);
  // libblkid counts ZFS members among the file systems, members of other sets among the RAIDs.
  const bool member = signature.usage == "raid" || signature.type.ends_with("_member");
  std::string text = member                                 ? type + " (member of a RAID, volume group or pool)"
                     : signature.usage == "filesystem"      ? type + " file system"
                     : signature.usage == "partition table" ? "partition table (" + type + ")"
                     : signature.usage == "crypto"          ? type + " (encrypted volume)"
                                                            : type;
  if (!signature.label.empty()) text += ", label \"" + devio::printable(signature.label) + "\"";
  if (!signature.uuid.empty()) text += ", UUID " + devio::printable(signature.uuid);
  return text;
}

}  // namespace mongo
