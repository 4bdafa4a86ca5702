#include "harness/plan/mkfs_options.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>

#include "harness/core/errors.h"
#include "harness/core/quote.h"

namespace mongo {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool exists(const std::string& name) {
  struct stat info {};
  return !name.empty() && lstat(("/" + name).c_str(), &info) == 0;
}

class Check {
 public:
  Check(const MkfsRules& rules, const std::vector<std::string>& words) : rules_(rules), words_(words) {}

  void run() {
    for (at_ = 0; at_ < words_.size(); ++at_) {
      const std::string& word = words_[at_];
      if (word == "--") refuse(word, "would end the options before DEVICE");
      if (word.starts_with("--")) {
        long_option(word);
      } else if (word.size() > 1 && word[0] == '-') {
        short_options(word);
      } else {
        refuse(word, "is neither an option nor the value of one; mkfs would take it for a further device or a size");
      }
    }
  }

 private:
  [[noreturn]] static void refuse(const std::string& word, const std::string& reason) {
    throw UsageError(fmt::format("--mkfs-options: '{}' {}", printable(word), reason));
  }

  /// The entry for "-N" or "--nodesize".
  const std::string& find(const std::string& name, const std::string& word) const {
    const auto entry = std::find_if(rules_.options.begin(), rules_.options.end(), [&](const std::string& option) {
      return option.substr(0, option.find(' ')) == name;
    });
    if (entry != rules_.options.end()) return *entry;
    std::string all;
    for (const std::string& option : rules_.options) all += (all.empty() ? "" : ", ") + option;
    refuse(word, fmt::format("{}cannot be used with {}: refused is what this tool sets itself, what makes no file "
                             "system, and what names files or devices. Can be used: {}",
                             name == word ? "" : fmt::format("({}) ", printable(name)), rules_.filesystem,
                             all.empty() ? "none" : all));
  }

  static bool takes_value(const std::string& entry) { return entry.find(' ') != std::string::npos; }

  /// "tea|rupasov|r5" of the entry "-h tea|rupasov|r5": there are no other values.
  static void check_choice(const std::string& text, const std::string& word, const std::string& entry) {
    const std::string choices = entry.substr(entry.find(' ') + 1);
    if (choices.find('|') == std::string::npos) return;
    const bool one =
        text.find('|') == std::string::npos && ("|" + choices + "|").find("|" + text + "|") != std::string::npos;
    if (!one)
      refuse(word, fmt::format("has a value that mkfs does not know and would pass over. Can be used: {}", entry));
  }

  void long_option(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string& entry = find(word.substr(0, equals), word);
    if (takes_value(entry)) {
      equals == std::string::npos ? next_value(word, entry) : value(word.substr(equals + 1), word, entry);
    } else if (equals != std::string::npos) {
      refuse(word, "takes no value");
    }
  }

  void short_options(const std::string& word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const std::string& entry = find(std::string("-") + word[i], word);
      if (!takes_value(entry)) continue;
      i + 1 < word.size() ? value(word.substr(i + 1), word, entry) : next_value(word, entry);
      return;
    }
  }

  void next_value(const std::string& word, const std::string& entry) {
    if (++at_ >= words_.size()) refuse(word, fmt::format("lacks its value ({})", entry));
    const std::string& text = words_[at_];
    // mke2fs knows negative sizes; anything else is an option whose predecessor lost its value.
    if (text.starts_with('-') && (text.size() < 2 || text[1] < '0' || text[1] > '9')) {
      refuse(word, fmt::format("lacks its value ({}): '{}' follows", entry, printable(text)));
    }
    value(text, fmt::format("{} {}", word, text), entry);
  }

  void value(const std::string& text, const std::string& word, const std::string& entry) const {
    if (text.empty()) refuse(word, "has an empty value");
    check_choice(text, word, entry);
    const std::string only_device = "mkfs may touch nothing but DEVICE";
    if (text.find('/') != std::string::npos) refuse(word, "names a file or a device. " + only_device);
    // Features may be separated by blanks too, and written as +name.
    std::string part;
    for (std::size_t start = 0; start <= text.size(); start += part.size() + 1) {
      part = text.substr(start, text.find_first_of(", \t\n", start) - start);
      const std::string plain = part.substr(std::min(part.find_first_not_of('+'), part.size()));
      const std::string name = lower(plain.substr(0, plain.find_first_of("=:")));
      const auto& refused = rules_.refused_suboptions;
      if (std::find(refused.begin(), refused.end(), name) != refused.end()) {
        refuse(word,
               fmt::format("has '{}', which is refused: {}", name, only_device + " and make a file system there"));
      }
    }
    for (std::size_t equals = text.find('='); equals != std::string::npos; equals = text.find('=', equals + 1)) {
      std::size_t start = equals;
      while (start > 0 && std::isalnum(static_cast<unsigned char>(text[start - 1])) != 0) --start;
      const std::string tag = lower(text.substr(start, equals - start));
      if (tag == "label" || tag == "uuid" || tag == "partlabel" || tag == "partuuid" || tag == "id") {
        refuse(word, fmt::format("names a device by its {}. {}", text.substr(start, equals - start), only_device));
      }
    }
    // What has been overlooked above fails here, if there is anything of that name.
    for (std::size_t start = 0, end = 0; end != std::string::npos; start = end + 1) {
      end = text.find_first_of("=,:", start);
      if (exists(text.substr(start, end - start))) {
        refuse(word, fmt::format("names a file or a device ('/{}'). {}", text.substr(start, end - start), only_device));
      }
    }
  }

  const MkfsRules& rules_;
  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
};

}  // namespace

void check_mkfs_options(const MkfsRules& rules, const std::vector<std::string>& words) { Check(rules, words).run(); }

}  // namespace mongo
