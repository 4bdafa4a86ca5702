#pragma once

// What host and guest agree on. Private to harness/guest.

namespace mongo::guest {

// Words of the kernel's command line, which init finds in its environment.
inline constexpr const char* boot_word = "mongo_guest";     // "1": this kernel was booted by run_guest
inline constexpr const char* folder_word = "mongo_folder";  // the output folder as the host's side of hostfs opens it
inline constexpr const char* device_word = "mongo_device";  // encoded: what the host calls the device; none: no device
inline constexpr const char* modules_word = "mongo_modules";  // files to load, in order, with ':' between them

/// A line on the console that is meant for the host.
inline constexpr const char* line_prefix = "@mongo ";

/// In the output folder: the exit status of the work as a number, a line feed, and what it said. It is renamed to this
/// name when it is complete.
inline constexpr const char* status_file = "status";

inline constexpr const char* device_in_guest = "/dev/ubda";

/// The kernel gives init 32 words at most, its own included, and panics at more.
inline constexpr int most_init_words = 24;
/// COMMAND_LINE_SIZE of the guest's kernel is 4096: arch/um/include/asm/setup.h.
inline constexpr int most_command_line = 4000;

}  // namespace mongo::guest
