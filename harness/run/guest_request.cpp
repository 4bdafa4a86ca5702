#include "harness/run/guest_request.h"

namespace mongo {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const std::optional<std::string>& value) { return value ? Json(*value) : Json(nullptr); }

std::optional<std::string> optional_text(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<std::string>());
}

}  // namespace

// What has to do with the device and with the results is the host's.
Json to_json(const GuestPassRequest& pass) {
  const RunRequest& request = pass.request;
  return Json{{"filesystem", request.filesystem},
              {"processes", request.processes},
              {"profile", request.profile},
              {"phases", to_json(request.phases)},
              {"repetitions", to_json(request.repetitions)},
              {"mount_options", request.mount_options},
              {"cache", to_json(request.cache)},
              {"sync", to_json(request.sync)},
              {"content", to_json(request.content)},
              {"phase_timeout", to_json(request.phase_timeout)},
              {"verify", request.verify},
              {"pass", pass.pass},
              {"progress_interval", pass.progress_interval}};
}

GuestPassRequest guest_pass_from_json(const Json& json) {
  GuestPassRequest pass;
  RunRequest& request = pass.request;
  request.filesystem = json.at("filesystem");
  request.device = "/dev/ubda";
  request.mount_point = "/";
  request.log = "guest";
  request.processes = json.at("processes");
  request.profile = json.at("profile");
  request.phases = optional_text(json.at("phases"));
  request.repetitions = optional_text(json.at("repetitions"));
  request.mount_options = json.at("mount_options");
  request.cache = optional_text(json.at("cache"));
  request.sync = optional_text(json.at("sync"));
  request.content = optional_text(json.at("content"));
  request.phase_timeout = optional_text(json.at("phase_timeout"));
  request.verify = json.at("verify");
  request.latency = false;  // a clock reading costs 15 us there
  pass.pass = json.at("pass");
  pass.progress_interval = json.at("progress_interval");
  return pass;
}

}  // namespace mongo
