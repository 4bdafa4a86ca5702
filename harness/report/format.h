#pragma once

#include <string>

#include "harness/core/record.h"

namespace mongo {

/// A form in which a finished run is appended to a file of the results folder, as data. Pure: record in, bytes out.
/// Each file harness/report/formats/NAME.cpp offers `namespace mongo::format_NAME { extern const Format entry; }`.
struct Format {
  const char* suffix;   // appended to LOG to name the file: "", ".tbl", "_table", ".jsonl"
  const char* summary;  // one line for the documentation
  int position;         // files are written in ascending order of this number
  /// The bytes to append for one run. Ends with a newline.
  std::string (*render)(const RunRecord&);
};

}  // namespace mongo
