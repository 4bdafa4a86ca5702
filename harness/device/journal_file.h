#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/device/journal.h"

// The form of a journal file. Private to harness/device.

namespace mongo {

struct JournalHeader {
  std::string run_id;
  int pid = 0;
  std::string boot_id;          // /proc/sys/kernel/random/boot_id
  std::string mount_namespace;  // "mnt:[4026531840]" of the run, once it has one of its own
  std::string program;          // "device:inode" of the program file
  std::string command_line;     // /proc/PID/cmdline
};

struct JournalText {
  JournalHeader header;
  std::vector<JournalStep> steps;
};

/// What this process would write about itself.
JournalHeader describe_self(const std::string& run_id);

std::string to_line(const JournalHeader& header);
std::string to_line(const JournalStep& step);

/// Reads a journal; a last line cut short by a crash is a step that was never done. Nothing when there is no whole
/// header.
std::optional<JournalText> parse_journal(const std::string& text);

}  // namespace mongo
