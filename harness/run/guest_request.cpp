#include "harness/run/guest_request.h"

#include "harness/plan/run_options.h"

namespace mongo {
namespace {

using Json = nlohmann::ordered_json;

/// What has to do with the device and with the results is the host's.
bool is_for_the_guest(const RunOption& option) {
  return option.name != "DEVICE" && option.name != "MOUNTPOINT" && option.name != "LOG" && option.name != "--results" &&
         option.name != "--mkfs-options" && option.name != "--environment" && option.name != "--sector-size" &&
         option.name != "--sparse" && option.name != "--destroy" && option.name != "--no-latency";
}

}  // namespace

Json to_json(const GuestPassRequest& pass) {
  Json options = Json::object();
  for (const RunOption& option : run_options()) {
    const std::string text = member_text(pass.request, option);
    if (is_for_the_guest(option) && !text.empty()) options[option.name] = text;
  }
  return Json{{"options", options}, {"pass", pass.pass}, {"progress_interval", pass.progress_interval}};
}

GuestPassRequest guest_pass_from_json(const Json& json) {
  GuestPassRequest pass;
  RunRequest& request = pass.request;
  for (const RunOption& option : run_options()) {
    if (json.at("options").contains(option.name)) {
      set_member(request, option, json.at("options").at(option.name).get<std::string>());
    }
  }
  request.device = "/dev/ubda";
  request.mount_point = "/";
  request.log = "guest";
  request.latency = false;  // a clock reading costs 15 us there
  pass.pass = json.at("pass");
  pass.progress_interval = json.at("progress_interval");
  return pass;
}

}  // namespace mongo
