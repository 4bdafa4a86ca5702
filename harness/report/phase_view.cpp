#include "harness/report/phase_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/report/text.h"

namespace mongo {
namespace {

struct ClassicPhase {
  const char* name;
  const char* label;
  bool writes_files;
};

// Readers of the old files know these seven, so they have a place even when --phases left them out.
constexpr std::array<ClassicPhase, 7> classic_phases = {{
    {"create", "Create", true},
    {"copy", "Copy", true},
    {"symlink", "Slinks", false},
    {"read", "Read", false},
    {"stat", "Stats", false},
    {"rename", "Rename", false},
    {"delete", "Delete", false},
}};

}  // namespace

std::vector<PhaseSlot> phase_slots(const PassRecord& pass) {
  std::vector<PhaseSlot> slots = phase_slots();
  for (const PhaseRecord& phase : pass.phases) {
    const auto slot = std::find_if(slots.begin(), slots.end(),
                                   [&](const PhaseSlot& s) { return s.phase == nullptr && s.name == phase.name; });
    if (slot != slots.end()) {
      slot->phase = &phase;
    } else {
      const bool writes_files = phase.fragmentation || phase.used_kib;
      slots.push_back({static_cast<int>(slots.size()) + 1, one_line(phase.name),
                       one_line(phase.label.empty() ? phase.name : phase.label), writes_files, &phase});
    }
  }
  return slots;
}

std::vector<PhaseSlot> phase_slots() {
  std::vector<PhaseSlot> slots;
  slots.reserve(classic_phases.size());
  for (const ClassicPhase& classic : classic_phases) {
    slots.push_back({static_cast<int>(slots.size()) + 1, classic.name, classic.label, classic.writes_files, nullptr});
  }
  return slots;
}

std::string phase_time(const PhaseSlot& slot) {
  if (slot.phase == nullptr || slot.phase->status != Status::ok) return no_value;
  return format_seconds(slot.phase->seconds);
}

std::string phase_fragmentation(const PhaseSlot& slot) {
  if (slot.phase == nullptr || !slot.phase->fragmentation) return no_value;
  return format_ratio(slot.phase->fragmentation->above_threshold.ratio);
}

std::string phase_used(const PhaseSlot& slot) {
  return slot.phase == nullptr ? no_value : format_count(slot.phase->used_kib);
}

std::string phase_note(const PhaseRecord& phase) {
  if (phase.status != Status::ok) {
    return one_line(phase.name) + " " + status_text(phase.status, phase.reason);
  }
  if (format_seconds(phase.seconds) == no_value) {
    std::string reason = phase.reason;
    if (reason.empty() && phase.suspended_seconds.value_or(0) > 0) {
      reason = fmt::format("the machine slept for {} s", format_seconds(phase.suspended_seconds));
    }
    return one_line(phase.name) + ": its time is not known" + (reason.empty() ? "" : ", " + one_line(reason));
  }
  return "";
}

std::string fragmentation_note(const PhaseRecord& phase) {
  if (!phase.fragmentation || format_ratio(phase.fragmentation->above_threshold.ratio) != no_value) return "";
  const std::string& reason = phase.fragmentation->reason;
  return "fragments after " + one_line(phase.name) + ": unknown, " +
         (reason.empty() ? "no reason was recorded" : one_line(reason));
}

std::string status_text(Status status, const std::string& reason) {
  const std::string name = status_name(status);
  return reason.empty() ? name : name + ": " + one_line(reason);
}

}  // namespace mongo
