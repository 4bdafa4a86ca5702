#include "harness/core/byte_size.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "harness/core/errors.h"

namespace mongo {
namespace {

struct Unit {
  std::string_view suffix;
  std::uint64_t factor;
};

constexpr std::uint64_t kib = 1024, mib = kib * 1024, gib = mib * 1024, tib = gib * 1024;

constexpr std::array units{
    Unit{"", 1},
    Unit{"B", 1},
    Unit{"K", kib},
    Unit{"Ki", kib},
    Unit{"KiB", kib},
    Unit{"M", mib},
    Unit{"Mi", mib},
    Unit{"MiB", mib},
    Unit{"G", gib},
    Unit{"Gi", gib},
    Unit{"GiB", gib},
    Unit{"T", tib},
    Unit{"Ti", tib},
    Unit{"TiB", tib},
    Unit{"kB", 1000},
    Unit{"MB", 1'000'000},
    Unit{"GB", 1'000'000'000},
    Unit{"TB", 1'000'000'000'000},
};

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw UsageError(fmt::format(
      "'{}' is no size: {}. Write a decimal number and KiB, MiB, GiB, TiB (or K, M, G, T; powers of 1024) or "
      "kB, MB, GB, TB (powers of 1000), for example 2GiB",
      text, why));
}

/// value * 10 + digit, or nothing when it leaves 64 bits.
bool push_digit(std::uint64_t& value, char digit) {
  return !__builtin_mul_overflow(value, std::uint64_t{10}, &value) &&
         !__builtin_add_overflow(value, static_cast<std::uint64_t>(digit - '0'), &value);
}

}  // namespace

ByteSize parse_byte_size(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t at = 0;
  std::uint64_t whole = 0;
  while (at < text.size() && is_digit(text[at])) {
    if (!push_digit(whole, text[at++])) refuse(text, "it is too large");
  }
  if (at == 0) refuse(text, "it does not begin with a digit");
  std::uint64_t fraction = 0, fraction_scale = 1;
  if (at < text.size() && text[at] == '.') {
    const std::size_t first = ++at;
    while (at < text.size() && is_digit(text[at])) {
      if (at - first >= 9) refuse(text, "more than nine decimals");
      push_digit(fraction, text[at++]);
      fraction_scale *= 10;
    }
    if (at == first) refuse(text, "no digit follows the point");
  }
  const std::string_view suffix = text.substr(at);
  for (const Unit& unit : units) {
    if (unit.suffix != suffix) continue;
    std::uint64_t bytes = 0, part = 0;
    if (__builtin_mul_overflow(whole, unit.factor, &bytes) || __builtin_mul_overflow(fraction, unit.factor, &part) ||
        __builtin_add_overflow(bytes, part / fraction_scale, &bytes) ||
        bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      refuse(text, "it is too large");
    }
    if (part % fraction_scale != 0) refuse(text, "it is not a whole number of bytes");
    return ByteSize{bytes};
  }
  refuse(text, fmt::format("the suffix '{}' is not known", suffix));
}

std::string format_exact(ByteSize size) {
  if (size.bytes != 0) {
    for (const auto& [factor, name] : {std::pair{tib, "TiB"}, {gib, "GiB"}, {mib, "MiB"}, {kib, "KiB"}}) {
      if (size.bytes % factor == 0) return fmt::format("{} {}", size.bytes / factor, name);
    }
  }
  return fmt::format("{} bytes", size.bytes);
}

std::string format_rounded(ByteSize size) {
  for (const auto& [factor, name] : {std::pair{tib, "TiB"}, {gib, "GiB"}, {mib, "MiB"}, {kib, "KiB"}}) {
    if (size.bytes >= factor) {
      return fmt::format("{:.1f} {}", static_cast<double>(size.bytes) / static_cast<double>(factor), name);
    }
  }
  return fmt::format("{} bytes", size.bytes);
}

}  // namespace mongo
