#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// How values are written in everything that people read. All of it is independent of the locale: the decimal sign is
// a point and there are no thousands separators.

namespace mongo {

/// What stands where a value is not known. Never a 0: a 0 would be read as a very good time.
inline constexpr const char* no_value = "-";

/// Seconds with three decimals, or with six when below 0.01 s and nine when below 0.000001 s, so that what was measured
/// is never printed as 0. "-" for null, NaN, infinity and negative values.
std::string format_seconds(std::optional<double> seconds);

/// A ratio with three decimals; "-" for null, NaN, infinity and negative values.
std::string format_ratio(std::optional<double> ratio);

/// A figure as a multiple of another: two decimals, with more below 0.1, so that it is never printed as 0; "-" as
/// above.
std::string format_multiple(std::optional<double> multiple);

/// A percentage with one decimal; "-" as above.
std::string format_percent(std::optional<double> percent);

/// A count; "-" for null.
std::string format_count(std::optional<std::uint64_t> count);

/// The text, with every byte that is no part of valid UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view text);
bool is_valid_utf8(std::string_view text);

/// The text as a part of one line: valid UTF-8, control characters written as \n, \t or \xHH, at most about 1000 bytes
/// (what was cut off is said). A reader that goes line by line can so never be shown a line that a path made up.
std::string one_line(std::string_view text);

/// one_line in ASCII: every byte above 0x7e becomes \xHH.
std::string ascii_line(std::string_view text);

/// The text in lines of at most `width` characters, broken at blanks where there are any, otherwise anywhere. No lines
/// for an empty text.
std::vector<std::string> wrap_words(std::string_view text, std::size_t width);

/// The same as a block: each line ends with a newline, those after the first are indented by four blanks.
std::string wrapped(std::string_view text, std::size_t width);

/// "key=value" and a newline, the value as one_line; nothing when there is no value.
std::string key_line(std::string_view key, std::string_view value);

}  // namespace mongo
