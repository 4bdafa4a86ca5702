#pragma once

#include <string>

#include "harness/core/record.h"

namespace mongo {

/// The run as a person reads it: for each pass a heading with its conditions and a row a phase with time, rates, CPU,
/// latency, what the device did, and flags. What has no figure is "-", and the reason stands under it; flags, warnings
/// and units stand below. ASCII only, no tabs, lines of at most people_table_width characters.
std::string people_table(const RunRecord& record);

inline constexpr std::size_t people_table_width = 96;

}  // namespace mongo
