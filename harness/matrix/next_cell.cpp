#include "harness/matrix/next_cell.h"

#include <algorithm>
#include <map>
#include <utility>

#include "harness/matrix/planned_device.h"
#include "harness/run/availability.h"

namespace mongo {
namespace {

bool waits(const CellState& cell) {
  return cell.status == CellStatus::waiting || cell.status == CellStatus::interrupted;
}

bool disturb_each_other(const CellNeeds& a, const CellNeeds& b) {
  return a.disk.empty() || b.disk.empty() || a.disk == b.disk || (a.in_guest && b.in_guest);
}

}  // namespace

std::vector<CellNeeds> needs_of(const std::vector<ListedCell>& cells, const std::string& folder) {
  std::map<std::string, std::string> disks;
  std::map<std::pair<std::string, Environment>, bool> guests;
  std::vector<CellNeeds> needs;
  for (const ListedCell& planned : cells) {
    const Cell& cell = planned.cell;
    const auto [disk, new_disk] = disks.try_emplace(cell.device.given);
    if (new_disk) disk->second = disk_below(cell.device, folder);
    const auto [guest, new_guest] = guests.try_emplace({cell.driver->name, cell.environment});
    if (new_guest) guest->second = choose_environment(cell, nullptr).environment == Environment::uml;
    needs.push_back({disk->second, guest->second});
  }
  return needs;
}

std::optional<std::size_t> next_cell(const std::vector<CellState>& cells, const std::vector<CellNeeds>& needs) {
  std::vector<CellNeeds> taken;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].status == CellStatus::running) taken.push_back(needs[i]);
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!waits(cells[i])) continue;
    const bool disturbs = std::any_of(taken.begin(), taken.end(),
                                      [&](const CellNeeds& other) { return disturb_each_other(other, needs[i]); });
    if (!disturbs) return i;
  }
  return std::nullopt;
}

void separate_mount_points(std::vector<ListedCell>& cells, const std::vector<CellNeeds>& needs) {
  std::map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (needs[i].disk.empty()) continue;
    const std::size_t number = numbers.try_emplace(needs[i].disk, numbers.size() + 1).first->second;
    if (number > 1) cells[i].cell.mount_point += "-" + std::to_string(number);
  }
}

}  // namespace mongo
