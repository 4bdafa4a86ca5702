// failing_fs MOUNTPOINT [cached] RULE...
// A file system in memory whose calls go wrong as the rules say (rules.h). Further rules may come as lines of the
// standard input, where "clear" takes back all that came before; they hold for every call made after the line was
// written. "ready" is told on the standard output. Ends when it is unmounted or its input ends.
//
// Kinds of calls: lookup getattr setattr readlink mkdir unlink rmdir symlink rename create open write flush (close(2))
// fsync read opendir readdir access (chdir(2)) statfs. Besides: short-write takes only half of the bytes; corrupt gives
// one wrong byte, in the middle, and counts only the reads that give some; hang answers a write only when its process
// is killed; stuck never does.
//
// Nothing is cached by the kernel, so that each call comes here. With "cached", written data is: it comes with
// close(2) or fsync(2), as with delayed allocation.

#define FUSE_USE_VERSION 31

#include <fuse_lowlevel.h>
#include <poll.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "memory_tree.h"
#include "rules.h"

namespace failing {
namespace {

using Node = MemoryTree::Node;

struct {
  MemoryTree tree;
  Rules rules;
  bool cached = false;
} state;

/// Fails the call if a rule says so.
bool failed(fuse_req_t request, const char* kind) {
  const int error = state.rules.error(kind);
  if (error != 0) fuse_reply_err(request, error);
  return error != 0;
}

fuse_entry_param entry_of(fuse_ino_t inode) {
  fuse_entry_param entry{};  // timeouts of 0
  entry.ino = inode;
  entry.attr = state.tree.status(inode);
  return entry;
}

void reply_entry(fuse_req_t request, fuse_ino_t inode) {
  const fuse_entry_param entry = entry_of(inode);
  fuse_reply_entry(request, &entry);
}

/// Answers with EEXIST if there is such a name.
bool exists(fuse_req_t request, fuse_ino_t parent, const char* name) {
  const bool there = state.tree.find(parent, name) != 0;
  if (there) fuse_reply_err(request, EEXIST);
  return there;
}

void on_init(void*, fuse_conn_info* connection) {
  if (state.cached) connection->want |= connection->capable & FUSE_CAP_WRITEBACK_CACHE;
}

void on_lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
  if (failed(request, "lookup")) return;
  const fuse_ino_t inode = state.tree.find(parent, name);
  if (inode == 0) {
    fuse_reply_err(request, ENOENT);
  } else {
    reply_entry(request, inode);
  }
}

void on_getattr(fuse_req_t request, fuse_ino_t inode, fuse_file_info*) {
  if (failed(request, "getattr")) return;
  const struct stat status = state.tree.status(inode);
  fuse_reply_attr(request, &status, 0);
}

void on_setattr(fuse_req_t request, fuse_ino_t inode, struct stat* wanted, int what, fuse_file_info*) {
  if (failed(request, "setattr")) return;
  Node& node = state.tree.at(inode);
  if ((what & FUSE_SET_ATTR_SIZE) != 0) node.data.resize(static_cast<std::size_t>(wanted->st_size));
  if ((what & FUSE_SET_ATTR_MODE) != 0) node.mode = (node.mode & S_IFMT) | (wanted->st_mode & 07777);
  const struct stat status = state.tree.status(inode);
  fuse_reply_attr(request, &status, 0);
}

void on_readlink(fuse_req_t request, fuse_ino_t inode) {
  if (!failed(request, "readlink")) fuse_reply_readlink(request, state.tree.at(inode).data.c_str());
}

void on_mkdir(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode) {
  if (failed(request, "mkdir") || exists(request, parent, name)) return;
  reply_entry(request, state.tree.add(parent, name, S_IFDIR | mode));
}

void on_symlink(fuse_req_t request, const char* target, fuse_ino_t parent, const char* name) {
  if (failed(request, "symlink") || exists(request, parent, name)) return;
  const fuse_ino_t inode = state.tree.add(parent, name, S_IFLNK | 0777);
  state.tree.at(inode).data = target;
  reply_entry(request, inode);
}

void on_unlink(fuse_req_t request, fuse_ino_t parent, const char* name) {
  if (failed(request, "unlink")) return;
  state.tree.remove(parent, name);
  fuse_reply_err(request, 0);
}

void on_rmdir(fuse_req_t request, fuse_ino_t parent, const char* name) {
  if (failed(request, "rmdir")) return;
  const fuse_ino_t inode = state.tree.find(parent, name);
  if (inode != 0 && !state.tree.at(inode).entries.empty()) {
    fuse_reply_err(request, ENOTEMPTY);
    return;
  }
  state.tree.remove(parent, name);
  fuse_reply_err(request, 0);
}

void on_rename(fuse_req_t request, fuse_ino_t parent, const char* name, fuse_ino_t new_parent, const char* new_name,
               unsigned) {
  if (failed(request, "rename")) return;
  state.tree.move(parent, name, new_parent, new_name);
  fuse_reply_err(request, 0);
}

void on_create(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode, fuse_file_info* file) {
  if (failed(request, "create") || exists(request, parent, name)) return;
  file->direct_io = !state.cached;
  const fuse_entry_param entry = entry_of(state.tree.add(parent, name, S_IFREG | (mode & 07777)));
  fuse_reply_create(request, &entry, file);
}

void on_open(fuse_req_t request, fuse_ino_t, fuse_file_info* file) {
  if (failed(request, "open")) return;
  file->direct_io = !state.cached;
  fuse_reply_open(request, file);
}

void on_read(fuse_req_t request, fuse_ino_t inode, std::size_t size, off_t offset, fuse_file_info*) {
  if (failed(request, "read")) return;
  const std::string& data = state.tree.at(inode).data;
  std::string piece;
  if (static_cast<std::size_t>(offset) < data.size()) piece = data.substr(static_cast<std::size_t>(offset), size);
  if (!piece.empty() && state.rules.meets("corrupt")) piece[piece.size() / 2] ^= 1;
  fuse_reply_buf(request, piece.data(), piece.size());
}

void on_interrupt(fuse_req_t request, void*) { fuse_reply_err(request, EINTR); }

void on_write(fuse_req_t request, fuse_ino_t inode, const char* bytes, std::size_t size, off_t offset,
              fuse_file_info*) {
  if (state.rules.meets("stuck")) return;
  if (state.rules.meets("hang")) {
    fuse_req_interrupt_func(request, on_interrupt, nullptr);
    return;
  }
  if (failed(request, "write")) return;
  if (state.rules.meets("short-write")) size = (size + 1) / 2;
  std::string& data = state.tree.at(inode).data;
  const auto begin = static_cast<std::size_t>(offset);
  data.resize(std::max(data.size(), begin + size));
  std::memcpy(data.data() + begin, bytes, size);
  fuse_reply_write(request, size);
}

void on_flush(fuse_req_t request, fuse_ino_t, fuse_file_info*) {
  if (!failed(request, "flush")) fuse_reply_err(request, 0);
}

void on_fsync(fuse_req_t request, fuse_ino_t, int, fuse_file_info*) {
  if (!failed(request, "fsync")) fuse_reply_err(request, 0);
}

void on_release(fuse_req_t request, fuse_ino_t, fuse_file_info*) { fuse_reply_err(request, 0); }

void on_opendir(fuse_req_t request, fuse_ino_t, fuse_file_info* file) {
  if (!failed(request, "opendir")) fuse_reply_open(request, file);
}

void on_readdir(fuse_req_t request, fuse_ino_t inode, std::size_t size, off_t offset, fuse_file_info*) {
  if (failed(request, "readdir")) return;
  Node& node = state.tree.at(inode);
  std::string buffer(size, '\0');
  std::size_t used = 0;
  const auto add = [&](const char* name, fuse_ino_t entry, off_t at) {
    const struct stat status = state.tree.status(entry);
    const std::size_t length =
        fuse_add_direntry(request, buffer.data() + used, buffer.size() - used, name, &status, at);
    if (length > buffer.size() - used) return false;
    used += length;
    return true;
  };
  bool room = (offset >= 1 || add(".", inode, 1)) && (offset >= 2 || add("..", node.parent, 2));
  for (auto entry = node.entries.upper_bound(offset); room && entry != node.entries.end(); ++entry) {
    room = add(entry->second.first.c_str(), entry->second.second, entry->first);
  }
  fuse_reply_buf(request, buffer.data(), used);
}

void on_access(fuse_req_t request, fuse_ino_t, int) {
  if (!failed(request, "access")) fuse_reply_err(request, 0);
}

void on_statfs(fuse_req_t request, fuse_ino_t) {
  if (failed(request, "statfs")) return;
  struct statvfs space {};
  space.f_bsize = space.f_frsize = 4096;
  space.f_blocks = space.f_files = 1 << 20;
  space.f_bfree = space.f_bavail = space.f_ffree = space.f_favail = 1 << 19;
  space.f_namemax = 255;
  fuse_reply_statfs(request, &space);
}

fuse_lowlevel_ops operations() {
  fuse_lowlevel_ops result{};
  result.init = on_init;
  result.lookup = on_lookup;
  result.getattr = on_getattr;
  result.setattr = on_setattr;
  result.readlink = on_readlink;
  result.mkdir = on_mkdir;
  result.symlink = on_symlink;
  result.unlink = on_unlink;
  result.rmdir = on_rmdir;
  result.rename = on_rename;
  result.create = on_create;
  result.open = on_open;
  result.read = on_read;
  result.write = on_write;
  result.flush = on_flush;
  result.fsync = on_fsync;
  result.release = on_release;
  result.opendir = on_opendir;
  result.readdir = on_readdir;
  result.releasedir = on_release;
  result.access = on_access;
  result.statfs = on_statfs;
  return result;
}

/// Takes the lines that have come. False at the end of the input.
bool take_rules() {
  static std::string pending;
  char buffer[4096];
  const ssize_t got = read(STDIN_FILENO, buffer, sizeof buffer);
  if (got <= 0) return false;
  pending.append(buffer, static_cast<std::size_t>(got));
  for (std::size_t end; (end = pending.find('\n')) != std::string::npos; pending.erase(0, end + 1)) {
    const std::string line = pending.substr(0, end);
    if (line == "clear") {
      state.rules.clear();
    } else {
      state.rules.add(line);
    }
  }
  return true;
}

void serve(fuse_session* session) {
  fuse_buf buffer{};
  pollfd polled[] = {{STDIN_FILENO, POLLIN, 0}, {fuse_session_fd(session), POLLIN, 0}};
  while (!fuse_session_exited(session)) {
    if (poll(polled, 2, -1) < 0) continue;
    // First: who writes a rule and then makes a call expects it to hold.
    if (polled[0].revents != 0 && !take_rules()) break;
    if (polled[1].revents == 0) continue;
    const int length = fuse_session_receive_buf(session, &buffer);
    if (length == -EINTR) continue;
    if (length <= 0) break;
    fuse_session_process_buf(session, &buffer);
  }
  std::free(buffer.mem);
}

int run(const std::vector<std::string>& words) {
  if (words.size() < 2) throw std::invalid_argument("usage: failing_fs MOUNTPOINT [cached] RULE...");
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "cached") {
      state.cached = true;
    } else {
      state.rules.add(words[i]);
    }
  }
  char program[] = "failing_fs", option[] = "-ofsname=failing_fs";
  char* arguments[] = {program, option, nullptr};
  fuse_args args = FUSE_ARGS_INIT(2, arguments);
  const fuse_lowlevel_ops table = operations();
  fuse_session* const session = fuse_session_new(&args, &table, sizeof table, nullptr);
  if (session == nullptr || fuse_session_mount(session, words[1].c_str()) != 0) return 1;
  if (write(STDOUT_FILENO, "ready\n", 6) != 6) return 1;
  serve(session);
  fuse_session_unmount(session);
  // Requests that were never answered are still known to the session: it is not taken down in good order.
  _exit(0);
}

}  // namespace
}  // namespace failing

int main(int argc, char** argv) {
  try {
    return failing::run({argv, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "failing_fs: %s\n", error.what());
    return 2;
  }
}
