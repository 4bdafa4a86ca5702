#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "harness/core/descriptor.h"
#include "harness/core/interrupt.h"

namespace mongo {

enum class Durability {
  synced,    // on disk when the call returns
  unsynced,  // atomic, but may be lost in a crash of the machine: for what is replaced every few seconds anyway
};

/// Replaces the file, or makes it: written beside and renamed, so that readers see the old one or the new one and
/// nothing between. Throws RunError("results", ...); what was written beside is gone then. One writer at a time.
void replace_file(const std::string& path, std::string_view bytes, Durability durability);

/// The whole file. Throws UsageError when it cannot be read.
std::string read_whole_file(const std::string& path);

enum class LockKind { exclusive, shared };

/// Holds a lock on the file until it and all its copies in other processes are closed; makes the file when it is
/// missing. Nothing when somebody else has the lock for longer than `patience`. Throws UsageError when there can be no
/// such file, Interrupted when a signal comes meanwhile.
Descriptor take_lock(const std::string& path, std::chrono::milliseconds patience, const InterruptWatch* watch,
                     LockKind kind = LockKind::exclusive);

/// Whether somebody holds the lock; false when there is no such file.
bool is_locked(const std::string& path);

}  // namespace mongo
