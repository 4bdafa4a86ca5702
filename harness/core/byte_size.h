#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace mongo {

/// A number of bytes.
struct ByteSize {
  std::uint64_t bytes = 0;
  auto operator<=>(const ByteSize&) const = default;
};

/// Reads a size: a decimal number and a suffix. None or B: bytes. K, Ki, KiB, M, Mi, MiB, G, Gi, GiB, T, Ti, TiB:
/// powers of 1024. kB, MB, GB, TB: powers of 1000. A fraction ("1.5G") is taken when it is a whole number of bytes.
/// Throws UsageError for anything else: signs, exponents, blanks, unknown suffixes, more than 2^63-1 bytes.
ByteSize parse_byte_size(std::string_view text);

/// "1536 MiB", "2 GiB", "300 KiB", "17 bytes": the largest unit that keeps the number whole.
std::string format_exact(ByteSize size);

/// "1.5 GiB", "931.5 GiB": the largest unit that keeps the number at 1 or more, one decimal; for people.
std::string format_rounded(ByteSize size);

}  // namespace mongo
