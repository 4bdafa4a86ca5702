#pragma once

#include <string>

#include "harness/core/record.h"
#include "harness/device/journal.h"
#include "harness/device/lease.h"
#include "harness/plan/cell.h"
#include "harness/run/cell_runner.h"

namespace mongo {

/// What the parts of one run share.
struct RunContext {
  const Cell& cell;
  const RunServices& services;
  RunRecord& record;
  LeaseStack& leases;
  std::unique_ptr<Journal>& journal;  // open from the first step that has to be undone

  /// Something that people may want to know: into the record and to whoever watches.
  void note(const std::string& text) const {
    record.notes.push_back(text);
    services.observer.note(text);
  }
};

}  // namespace mongo
