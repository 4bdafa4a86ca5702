#pragma once

#include <string>

#include "harness/core/errors.h"
#include "harness/plan/cell.h"

namespace mongo {

/// All that `mongo run` must be told, and nothing else.
inline RunRequest run_request(const std::string& filesystem, const std::string& device, const std::string& log,
                              const std::string& processes = "1") {
  RunRequest request;
  request.filesystem = filesystem;
  request.device = device;
  request.mount_point = "/work1";
  request.log = log;
  request.processes = processes;
  return request;
}

/// The message with which it is refused; empty when it is taken.
inline std::string refusal(const RunRequest& request) {
  try {
    resolve(request);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace mongo
