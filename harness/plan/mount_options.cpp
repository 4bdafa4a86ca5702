#include "harness/plan/mount_options.h"

#include <fmt/format.h>

#include <array>

#include "harness/core/errors.h"
#include "harness/core/quote.h"

namespace mongo {
namespace {

// Words up to '=' that make mount(8) or the kernel do something else than mount this device, writable, on this
// directory.
struct RefusedWord {
  const char* word;
  const char* why;
};
constexpr const char* other_action = "it makes mount do something else than mount the device";
constexpr const char* other_device = "it names a further device, which nobody has checked";
constexpr const char* other_file = "loop devices are the tool's own: give the device as loop:PATH";
constexpr std::array<RefusedWord, 31> refused_words = {{
    {"loop", other_file},
    {"offset", other_file},
    {"sizelimit", other_file},
    {"encryption", other_file},
    {"bind", other_action},
    {"rbind", other_action},
    {"move", other_action},
    {"remount", other_action},
    {"shared", other_action},
    {"rshared", other_action},
    {"private", other_action},
    {"rprivate", other_action},
    {"slave", other_action},
    {"rslave", other_action},
    {"unbindable", other_action},
    {"runbindable", other_action},
    {"helper", other_action},
    {"uhelper", other_action},
    {"ro", "a benchmark has to write"},
    {"user", "it belongs into /etc/fstab"},
    {"users", "it belongs into /etc/fstab"},
    {"owner", "it belongs into /etc/fstab"},
    {"group", "it belongs into /etc/fstab"},
    {"logdev", other_device},
    {"rtdev", other_device},
    {"journal_dev", other_device},
    {"journal_path", other_device},
    {"jdev", other_device},
    {"device", other_device},
    {"roothash", other_device},
    {"hashdevice", other_device},
}};

void check_word(const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("--mount-options: '{}' cannot be used: {}. Leave it out", printable(word), why));
  };
  for (const auto& [refused, why] : refused_words) {
    if (name == refused) refuse(why);
  }
  if (name.starts_with("X-") || name.starts_with("x-") || name.starts_with("verity.")) refuse(other_action);
  if (name.find("uid-mapping") != std::string::npos) refuse(other_action);
  if (word.find('\0') != std::string::npos) refuse("it holds a NUL byte");
}

}  // namespace

void check_mount_options(const std::string& options) {
  // Commas within double quotes belong to the value, as in context="system_u:object_r:tmp_t:s0:c1,c2".
  std::string word;
  bool quoted = false;
  for (const char c : options + ",") {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted) {
      check_word(word);
      word.clear();
    } else {
      word += c;
    }
  }
  if (quoted)
    throw UsageError(fmt::format("--mount-options: in '{}' a double quote is not closed", printable(options)));
}

}  // namespace mongo
