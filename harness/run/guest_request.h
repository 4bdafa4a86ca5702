#pragma once

#include <nlohmann/json.hpp>

#include "harness/plan/cell.h"

namespace mongo {

/// One pass of a cell as it is handed to the guest: the user's request, and what the host has decided.
struct GuestPassRequest {
  RunRequest request;
  std::size_t pass = 0;       // index into the profile's passes
  int progress_interval = 0;  // milliseconds
};

nlohmann::ordered_json to_json(const GuestPassRequest& request);
/// Throws nlohmann's exceptions: host and guest are the same program.
GuestPassRequest guest_pass_from_json(const nlohmann::ordered_json& json);

}  // namespace mongo
