#pragma once

#include <string>

#include "harness/core/record.h"

// Where results go: DIR/LOG, DIR/LOG.tbl, DIR/LOG_table and DIR/LOG.jsonl. A run is added to all of them or to none.

namespace mongo {

/// A log name is 1 to 200 bytes of valid UTF-8 without '/' and control characters. It begins with neither '-' (it would
/// be taken for an option) nor '.' (it would be hidden), and does not end like the name of another log's file (.tbl,
/// _table, .jsonl). Throws UsageError with the reason.
void check_log_name(const std::string& name);

/// To be called before anything is formatted: would append_run succeed, as far as can be told? Makes results_dir when
/// it is missing and the directory above exists; otherwise leaves nothing behind. Throws UsageError for a name or
/// directory that cannot be meant, RunError("results", ...) for one that cannot be written or has no room.
void check_results_writable(const std::string& results_dir, const std::string& log_name);

/// The same as far as can be told without making or writing anything: room is not looked at.
void check_results_without_writing(const std::string& results_dir, const std::string& log_name);

/// Adds the run to the files of all formats and syncs them. Holds a lock on the .jsonl file meanwhile, so that several
/// processes can add to one log at the same time; waits for it for one minute at most. When anything fails, every file
/// is cut back to what it was, so that all agree on the number of runs, and RunError("results", ...) names the file and
/// the reason. New files have mode 0644.
void append_run(const std::string& results_dir, const std::string& log_name, const RunRecord& record);

}  // namespace mongo
