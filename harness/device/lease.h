#pragma once

#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

namespace mongo {

/// Steps that have to be undone, undone in reverse order on every way out. An undo that fails does not keep the others
/// from being tried.
class LeaseStack {
 public:
  LeaseStack() = default;
  LeaseStack(const LeaseStack&) = delete;
  LeaseStack& operator=(const LeaseStack&) = delete;
  /// Undoes what is left; failures are only printed to stderr here, so call undo_all() where they matter. Does nothing
  /// in a process forked from the one that made it: what a worker leaves behind is not the worker's to undo.
  ~LeaseStack();

  /// Notes how a step is undone. Call it before the step acts; undo must do nothing when the step did nothing.
  void add(std::string what, std::function<void()> undo);
  /// Undoes the steps after the first `keep`. Returns the messages of the undos that failed.
  std::vector<std::string> undo_to(std::size_t keep);
  std::vector<std::string> undo_all() { return undo_to(0); }
  std::size_t size() const { return steps_.size(); }

 private:
  struct Step {
    std::string what;
    std::function<void()> undo;
  };
  std::vector<Step> steps_;
  pid_t owner_ = getpid();
};

}  // namespace mongo
