#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/core/record.h"

// The record as JSON and back. configs/record.schema.json describes the form, field by field and with units.

namespace mongo {

/// The number of the form that this version writes and reads.
inline constexpr int record_schema = 2;

/// All of the record. Not known is null: empty texts that cannot be known to be empty, lengths of time of things that
/// were not done, and numbers that are not finite. A phase that is not ok has neither time. Texts are valid UTF-8.
nlohmann::ordered_json to_json(const RunRecord& record);

/// The same as one line, without a newline in it or after it. Contains no NaN and no Infinity.
std::string to_json_line(const RunRecord& record);

/// The way back. Keys that are not known are passed over, so that records of later versions with further fields can be
/// read. Throws UsageError with the place (a JSON pointer) and the reason: a field missing or of the wrong type, a
/// number out of range, a status that does not exist, a time on a phase that is not ok, another schema number.
RunRecord record_from_json(const nlohmann::ordered_json& json);

struct RecordFile {
  std::vector<RunRecord> records;     // in the order of the file: oldest first
  std::vector<std::string> warnings;  // "FILE:LINE: ..." for each line that was passed over
};

/// Reads a .jsonl file. A line that is no object, or one that was cut short by a crash, is passed over with a warning.
/// Throws UsageError with file, line and reason for an object that is broken in the middle, as by a decimal comma, and
/// for a record that record_from_json refuses; also for a file that does not exist, cannot be read, is a directory or a
/// device, or holds no record.
RecordFile read_records(const std::string& path);

}  // namespace mongo
