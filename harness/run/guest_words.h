#pragma once

// What host and guest say to each other about a pass. Private to harness/run.

namespace mongo::guest_words {

inline constexpr const char* request_file = "request.json";
inline constexpr const char* result_file = "result.json";
inline constexpr const char* answer_file = "answer-";  // and the number of the question: empty, or what went wrong

// Lines for the host; what follows is separated by blanks.
inline constexpr const char* phase_started = "phase-started";    // median label planned
inline constexpr const char* progress = "progress";              // files seconds
inline constexpr const char* phase_finished = "phase-finished";  // median: read the result file
inline constexpr const char* note = "note";                      // text

// Questions: the guest stands still until the host has answered. A number follows.
inline constexpr const char* begin = "begin";  // of a repetition
inline constexpr const char* end = "end";
inline constexpr const char* empty_caches = "empty-caches";

}  // namespace mongo::guest_words
