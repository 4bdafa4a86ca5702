#pragma once

#include <fuse_lowlevel.h>
#include <sys/stat.h>

#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace failing {

/// Files, directories and links in memory. Inode numbers are never used again, and nothing is given back until the end:
/// the trees of tests are small.
class MemoryTree {
 public:
  struct Node {
    mode_t mode = 0;
    fuse_ino_t parent = FUSE_ROOT_ID;
    std::string data;  // of a file; the target of a link
    // In the order in which they came. The key is the offset for readdir: it stays what it is while others go.
    std::map<off_t, std::pair<std::string, fuse_ino_t>> entries;
    std::unordered_map<std::string, off_t> offsets;
    off_t next_offset = 3;  // 1 and 2 are . and ..
    nlink_t links = 1;
  };

  MemoryTree() { make(S_IFDIR | 0755, FUSE_ROOT_ID); }

  Node& at(fuse_ino_t inode) { return nodes_[inode - FUSE_ROOT_ID]; }

  /// 0 when there is none.
  fuse_ino_t find(fuse_ino_t parent, const std::string& name) {
    const Node& directory = at(parent);
    const auto offset = directory.offsets.find(name);
    return offset == directory.offsets.end() ? 0 : directory.entries.at(offset->second).second;
  }

  fuse_ino_t add(fuse_ino_t parent, const std::string& name, mode_t mode) {
    const fuse_ino_t inode = make(mode, parent);
    link(parent, name, inode);
    return inode;
  }

  void remove(fuse_ino_t parent, const std::string& name) {
    const fuse_ino_t inode = unlink(parent, name);
    if (inode != 0) at(inode).links = 0;
  }

  void move(fuse_ino_t parent, const std::string& name, fuse_ino_t new_parent, const std::string& new_name) {
    remove(new_parent, new_name);
    const fuse_ino_t inode = unlink(parent, name);
    at(inode).parent = new_parent;
    link(new_parent, new_name, inode);
  }

  struct stat status(fuse_ino_t inode) {
    const Node& node = at(inode);
    struct stat result {};
    result.st_ino = inode;
    result.st_mode = node.mode;
    result.st_nlink = S_ISDIR(node.mode) ? 2 : node.links;
    result.st_size = static_cast<off_t>(node.data.size());
    result.st_blocks = static_cast<blkcnt_t>((node.data.size() + 511) / 512);
    result.st_blksize = 4096;
    return result;
  }

 private:
  fuse_ino_t make(mode_t mode, fuse_ino_t parent) {
    Node& node = nodes_.emplace_back();
    node.mode = mode;
    node.parent = parent;
    return nodes_.size() - 1 + FUSE_ROOT_ID;
  }

  void link(fuse_ino_t parent, const std::string& name, fuse_ino_t inode) {
    Node& directory = at(parent);
    directory.offsets[name] = directory.next_offset;
    directory.entries[directory.next_offset++] = {name, inode};
  }

  fuse_ino_t unlink(fuse_ino_t parent, const std::string& name) {
    Node& directory = at(parent);
    const auto offset = directory.offsets.find(name);
    if (offset == directory.offsets.end()) return 0;
    const fuse_ino_t inode = directory.entries.at(offset->second).second;
    directory.entries.erase(offset->second);
    directory.offsets.erase(offset);
    return inode;
  }

  std::deque<Node> nodes_;
};

}  // namespace failing
