#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

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

    const std::string place = fmt::format("{}:{}: ", one_line(path), number);
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded()) {
      file.warnings.push_back(place + (whole ? "this line is no JSON and was passed over"
                                             : "this line is cut short, as by a crash, and was passed over"));
      continue;
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
