#pragma once

#include <ctime>
#include <string>

#include "harness/core/record.h"

namespace mongo {

/// Who and what this host is, from uname(2), and what it is like: describe_environment() of a root, which may be made
/// up.
HostRecord describe_host(const std::string& root = "/");

/// A time in UTC: "2026-11-30T16:50:01Z".
std::string utc_text(std::time_t time);
std::string utc_now();

/// How far the local time was ahead of UTC at that time: "+01:00", "-03:30".
std::string utc_offset(std::time_t time);

/// A name for a run that sorts by time and is unique: "20261130T165001Z-1a2b3c". UTC, since a local time may come
/// twice.
std::string make_run_id(std::time_t time);

}  // namespace mongo
