#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/command.h"
#include "harness/cli/table.h"
#include "harness/core/byte_size.h"
#include "harness/device/inventory.h"
#include "harness/report/text.h"

namespace mongo {
namespace {

using Json = nlohmann::ordered_json;

std::string contents_text(const InventoryItem& item) {
  if (!item.contents_unknown.empty()) return "unknown";
  std::string text;
  for (const Signature& signature : item.contents) {
    text += (text.empty() ? "" : ", ") + signature.type;
    if (!signature.label.empty()) text += " '" + one_line(signature.label) + "'";
  }
  return text.empty() ? "nothing" : text;
}

std::string verdict(const InventoryItem& item) {
  if (item.accepted) return "yes";
  return (item.needs_destroy ? "with --destroy: " : "no: ") + one_line(item.why_not);
}

Json to_json(const InventoryItem& item) {
  const auto text = [](const std::string& value) { return value.empty() ? Json(nullptr) : Json(valid_utf8(value)); };
  Json contents = Json::array();
  for (const Signature& signature : item.contents) {
    contents.push_back({{"type", signature.type},
                        {"usage", text(signature.usage)},
                        {"label", text(signature.label)},
                        {"uuid", text(signature.uuid)}});
  }
  return {{"device", valid_utf8(item.device.resolved)},
          {"major_minor", text(item.major_minor)},
          {"size_bytes", item.size_bytes ? Json(*item.size_bytes) : Json(nullptr)},
          {"model", text(item.device.model)},
          {"serial", text(item.device.serial)},
          {"by_id", text(item.device.by_id)},
          {"contents", item.contents_unknown.empty() ? contents : Json(nullptr)},
          {"contents_unknown", text(item.contents_unknown)},
          {"accepted", item.accepted},
          {"needs_destroy", item.needs_destroy},
          {"why_not", text(item.why_not)}};
}

int devices(bool json, CommandContext& context) {
  GuardOptions options;
  options.keep_paths = {"/proc/self/exe"};
  const std::vector<InventoryItem> items = list_devices(options);
  if (json) {
    Json all = Json::array();
    for (const InventoryItem& item : items) all.push_back(to_json(item));
    context.console.out(all.dump(2) + "\n");
    return 0;
  }
  std::vector<std::vector<std::string>> rows{{"device", "size", "model", "serial", "holds", "would a run take it"}};
  for (const InventoryItem& item : items) {
    const auto or_dash = [](const std::string& text) { return text.empty() ? std::string(no_value) : one_line(text); };
    rows.push_back({one_line(item.device.resolved),
                    item.size_bytes ? format_rounded(ByteSize{*item.size_bytes}) : std::string(no_value),
                    or_dash(item.device.model), or_dash(item.device.serial), contents_text(item), verdict(item)});
  }
  context.console.out(aligned(rows));
  return 0;
}

}  // namespace

CommandBody add_devices_command(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("devices", "List block devices and whether a run would take them.");
  command->add_flag("--json", *json, "print the list as JSON");
  command->footer(
      "Example:\n  mongo devices\n\nDevices with size 0 (no medium, no file attached) are left out. Touches nothing.");
  return [json](CommandContext& context) { return devices(*json, context); };
}

}  // namespace mongo
