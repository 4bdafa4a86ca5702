#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/matrix/cell_list.h"
#include "harness/matrix/state.h"

namespace mongo {

/// What a cell must have for itself while it runs.
struct CellNeeds {
  std::string disk;       // empty: any disk, as for an existing directory; such a cell runs alone
  bool in_guest = false;  // guests all use the same CPU
  bool operator==(const CellNeeds&) const = default;
};

/// The needs of each cell, as this host can run it. folder: in which relative names are meant.
std::vector<CellNeeds> needs_of(const std::vector<ListedCell>& cells, const std::string& folder);

/// The first cell that waits for its turn; if others run, the first that needs nothing which they need. needs: of each
/// cell.
std::optional<std::size_t> next_cell(const std::vector<CellState>& cells, const std::vector<CellNeeds>& needs);

/// Gives each disk but the first its own mount point: "-2", "-3" and so on is added to the name.
void separate_mount_points(std::vector<ListedCell>& cells, const std::vector<CellNeeds>& needs);

}  // namespace mongo
