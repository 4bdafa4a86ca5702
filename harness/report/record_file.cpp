#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "harness/core/descriptor.h"
#include "harness/core/errors.h"
#include "harness/report/record_json.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

using Json = nlohmann::ordered_json;

std::string read_all(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw UsageError(fmt::format("cannot open {}: {}", one_line(path), errno_text(errno)));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) {
    throw UsageError(fmt::format("cannot read {}: {}", one_line(path), errno_text(errno)));
  }
  if (S_ISDIR(info.st_mode)) {
    throw UsageError(fmt::format("{} is a directory; name the .jsonl file in it", one_line(path)));
  }
  if (!S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode)) {
    throw UsageError(fmt::format("{} is neither a file nor a pipe", one_line(path)));
  }
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw UsageError(fmt::format("cannot read {}: {}", one_line(path), errno_text(errno)));
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

/// The common mistake is to name the log itself.
std::string no_record_text(const std::string& path) {
  std::string text = fmt::format("{} holds no record of a run", one_line(path));
  const std::string beside = path + ".jsonl";
  if (::access(beside.c_str(), R_OK) == 0) text += fmt::format("; did you mean {}?", one_line(beside));
  return text;
}

/// What the parser says, without its own place.
std::string parser_words(const Json::parse_error& error) {
  const std::string text = error.what();
  const std::size_t place = text.find(", column ");
  const std::size_t words = place == std::string::npos ? place : text.find(": ", place);
  return one_line(words == std::string::npos ? text : text.substr(words + 2));
}

bool is_digit(const std::string& text, std::size_t at) {
  return at < text.size() && text[at] >= '0' && text[at] <= '9';
}

/// A line that a crash cut short is passed over, and so is one that was no record from the beginning. One that is
/// broken in the middle is an error: the run in it would be missing without anybody noticing.
std::string why_passed_over(const std::string& line, const Json::parse_error& error, const std::string& place) {
  const std::size_t size = line.find_last_not_of('\0') + 1;  // where blocks were never written
  if (line.find('{') != line.find_first_not_of(" \t\xef\xbb\xbf")) return "this line is no JSON and was passed over";
  if (error.byte > size) return "this line is cut short, as by a crash, and was passed over";
  const std::size_t end = std::max<std::size_t>(error.byte, 1);
  std::size_t number = end;
  while (number > 0 && is_digit(line, number - 1)) --number;
  const bool comma = number < end && number > 1 && line[number - 1] == ',' && is_digit(line, number - 2);
  const auto column = std::count_if(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(end),
                                    [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; });
  const std::size_t shown = end - std::min<std::size_t>(end, 40);
  throw UsageError(fmt::format("{}:{}: this line is no JSON: {}, at the end of '{}'{}", place, column,
                               parser_words(error), one_line(line.substr(shown, end - shown)),
                               comma ? ". Decimal numbers have a point, not a comma" : ""));
}

}  // namespace

RecordFile read_records(const std::string& path) {
  const std::string text = read_all(path);
  RecordFile file;
  std::size_t number = 0;
  std::string passed_over;
  for (std::size_t at = 0; at < text.size();) {
    ++number;
    const std::size_t newline = text.find('\n', at);
    const bool whole = newline != std::string::npos;
    const std::string line = text.substr(at, whole ? newline - at : std::string::npos);
    at = whole ? newline + 1 : text.size();
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;

    const std::string at_line = fmt::format("{}:{}", one_line(path), number), place = at_line + ": ";
    Json json;
    try {
      json = Json::parse(line);
    } catch (const Json::parse_error& error) {
      file.warnings.push_back(place + why_passed_over(line, error, at_line));
      continue;
    } catch (const Json::out_of_range& error) {
      throw UsageError(place + "this line is no JSON: " + one_line(error.what()));
    }
    if (json.is_object() && json.contains("schema") && json["schema"].is_number_unsigned() &&
        json["schema"].get<std::uint64_t>() < record_schema) {
      passed_over = place + fmt::format("this is schema {}, of an older version of mongo; it was passed over",
                                        json["schema"].get<std::uint64_t>());
      file.warnings.push_back(passed_over);
      continue;
    }
    try {
      file.records.push_back(record_from_json(json));
    } catch (const UsageError& error) {
      throw UsageError(place + error.what());
    }
  }
  if (file.records.empty() && !passed_over.empty()) throw UsageError(passed_over + ". Nothing is left");
  if (file.records.empty()) throw UsageError(no_record_text(path));
  return file;
}

}  // namespace mongo
