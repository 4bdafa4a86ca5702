#pragma once

#include <string>

// Any text as one word of the kernel's command line, and back. Private to harness/guest.

namespace mongo::guest {

/// Everything but letters, digits and a few harmless signs becomes %XX. The first character is a colon, so that neither
/// linux.uml nor the kernel takes the word for one of its own, as "mem=1" and "--version" would be.
std::string encode(const std::string& text);

/// What was encoded; the word itself if it was not.
std::string decode(const std::string& word);

}  // namespace mongo::guest
