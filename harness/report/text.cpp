#include "harness/report/text.h"

#include <fmt/format.h>

#include <cmath>

namespace mongo {
namespace {

constexpr std::size_t longest_line_part = 1000;

/// Bytes of the valid UTF-8 sequence at `at`; 0 if there is none. Overlong forms, surrogates and values above U+10FFFF
/// are not valid.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(at);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  unsigned low = 0x80;
  unsigned high = 0xbf;  // the range of the second byte
  if (first >= 0xc2 && first <= 0xdf) {
    length = 2;
  } else if (first >= 0xe0 && first <= 0xef) {
    length = 3;
    if (first == 0xe0) low = 0xa0;
    if (first == 0xed) high = 0x9f;
  } else if (first >= 0xf0 && first <= 0xf4) {
    length = 4;
    if (first == 0xf0) low = 0x90;
    if (first == 0xf4) high = 0x8f;
  } else {
    return 0;
  }
  if (at + length > text.size()) return 0;
  if (byte(at + 1) < low || byte(at + 1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(at + i) & 0xc0U) != 0x80) return 0;
  }
  return length;
}

std::string cut(std::string text) {
  if (text.size() <= longest_line_part) return text;
  const std::size_t whole = text.size();
  std::size_t end = longest_line_part;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80) --end;  // not inside a character
  text.resize(end);
  return text + fmt::format("... ({} bytes)", whole);
}

void append_hex(std::string& out, unsigned char byte) { out += fmt::format("\\x{:02x}", byte); }

bool is_known(std::optional<double> value) { return value && std::isfinite(*value) && *value >= 0; }

}  // namespace

std::string format_seconds(std::optional<double> seconds) {
  if (!is_known(seconds)) return no_value;
  if (*seconds >= 0.01) return fmt::format("{:.3f}", *seconds);
  if (*seconds >= 0.000001 || *seconds == 0) return fmt::format("{:.6f}", *seconds);
  return fmt::format("{:.9f}", *seconds);
}

std::string format_ratio(std::optional<double> ratio) {
  return is_known(ratio) ? fmt::format("{:.3f}", *ratio) : no_value;
}

std::string format_multiple(std::optional<double> multiple) {
  if (!is_known(multiple)) return no_value;
  if (*multiple >= 0.1) return fmt::format("{:.2f}", *multiple);
  if (*multiple >= 0.001) return fmt::format("{:.4f}", *multiple);
  return *multiple >= 0.000001 ? fmt::format("{:.6f}", *multiple) : fmt::format("{:.1e}", *multiple);
}

std::string format_percent(std::optional<double> percent) {
  return is_known(percent) ? fmt::format("{:.1f}", *percent) : no_value;
}

std::string format_count(std::optional<std::uint64_t> count) { return count ? fmt::format("{}", *count) : no_value; }

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    if (length == 0) {
      out += "\xef\xbf\xbd";
      ++at;
    } else {
      out += text.substr(at, length);
      at += length;
    }
  }
  return out;
}

bool is_valid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string one_line(std::string_view text) {
  const std::string valid = valid_utf8(text);
  std::string out;
  out.reserve(valid.size());
  for (std::size_t at = 0; at < valid.size(); ++at) {
    const auto byte = static_cast<unsigned char>(valid[at]);
    // U+0080 to U+009F, the second set of control characters, among them U+0085, which some readers take for a newline.
    const bool second_set = byte == 0xc2 && at + 1 < valid.size() && static_cast<unsigned char>(valid[at + 1]) < 0xa0;
    // U+2028 and U+2029 end a line for some readers too.
    const bool separator = valid.compare(at, 3, "\xe2\x80\xa8") == 0 || valid.compare(at, 3, "\xe2\x80\xa9") == 0;
    if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      append_hex(out, byte);
    } else if (second_set || separator) {
      const std::size_t length = second_set ? 2 : 3;
      for (std::size_t i = 0; i < length; ++i) append_hex(out, static_cast<unsigned char>(valid[at + i]));
      at += length - 1;
    } else {
      out += valid[at];
    }
  }
  return cut(std::move(out));
}

std::string ascii_line(std::string_view text) {
  std::string out;
  for (const char c : one_line(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x7e) {
      append_hex(out, byte);
    } else {
      out += c;
    }
  }
  return out;
}

std::vector<std::string> wrap_words(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::size_t end = text.size();
    std::size_t next = end;
    if (end > width) {
      // The blank may stand just behind the line.
      const std::size_t blank = text.find_last_of(' ', width);
      const bool breakable = blank != std::string_view::npos && blank > 0;
      end = breakable ? blank : width;
      next = breakable ? blank + 1 : width;
    }
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(next);
  }
  return lines;
}

std::string wrapped(std::string_view text, std::size_t width) {
  constexpr std::size_t indent = 4;
  const std::vector<std::string> first = wrap_words(text, width);
  if (first.empty()) return "";
  std::string out = first[0] + "\n";
  if (first.size() == 1) return out;
  std::string_view rest = text.substr(first[0].size());
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  for (const std::string& line : wrap_words(rest, width - indent)) out += std::string(indent, ' ') + line + "\n";
  return out;
}

std::string key_line(std::string_view key, std::string_view value) {
  return value.empty() ? "" : fmt::format("{}={}\n", key, one_line(value));
}

}  // namespace mongo
