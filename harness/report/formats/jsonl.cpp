#include "harness/report/format.h"
#include "harness/report/record_json.h"

namespace mongo::format_jsonl {
namespace {

std::string render(const RunRecord& record) { return to_json_line(record) + "\n"; }

}  // namespace

extern const Format entry;
const Format entry = {".jsonl", "one JSON object a line and run: the whole record", 10, render};

}  // namespace mongo::format_jsonl
