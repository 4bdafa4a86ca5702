#pragma once

#include <cstdint>

#include "phases/phase.h"
#include "phases/support/current_path.h"
#include "phases/support/decimal_name.h"
#include "phases/support/operations.h"

namespace mongo::phases {

/// The base of what goes through directories along the events of a TreeGenerator. Derived has
/// `bool enter(const char* name)`, which goes from the current directory into that one and tells path_; where it
/// cannot, all that the generator has below it is to be skipped.
template <typename Derived>
class TreeFollower {
 public:
  void enter_directory(std::uint64_t number) {
    if (skipping() || !static_cast<Derived*>(this)->enter(DecimalName('d', number).text())) {
      ++skipped_levels_;
    }
  }

  void leave_directory() {
    if (skipping()) {
      --skipped_levels_;
    } else if (operations_.change_directory("..")) {
      path_.leave();
    } else {
      // From here on names would mean something else.
      skipped_levels_ = std::uint64_t{1} << 63;
    }
  }

 protected:
  explicit TreeFollower(Context& context)
      : path_(context.mount_path), clock_(context.latencies), operations_(*context.counters, clock_, path_) {}

  bool skipping() const { return skipped_levels_ > 0; }

  CurrentPath path_;
  LatencyClock clock_;
  Operations operations_;

 private:
  std::uint64_t skipped_levels_ = 0;  // how far below a directory that could not be entered the generator is
};

}  // namespace mongo::phases
