#pragma once

#include <string>

#include "harness/core/record.h"

namespace mongo {

/// Who and what this host is, from uname(2), and what it is like: describe_environment() of a root, which may be made
/// up.
HostRecord describe_host(const std::string& root = "/");

/// Now, in UTC: "2026-11-30T16:50:01Z".
std::string utc_now();

/// A name for a run that sorts by time and is unique: "20261130T165001Z-1a2b3c".
std::string make_run_id();

}  // namespace mongo
