#include "harness/device/lease.h"

#include <cstdio>
#include <exception>
#include <utility>

namespace mongo {

LeaseStack::~LeaseStack() {
  if (getpid() != owner_) return;
  for (const std::string& failure : undo_all()) std::fprintf(stderr, "mongo: %s\n", failure.c_str());
}

void LeaseStack::add(std::string what, std::function<void()> undo) {
  steps_.push_back({std::move(what), std::move(undo)});
}

std::vector<std::string> LeaseStack::undo_to(std::size_t keep) {
  std::vector<std::string> failures;
  while (steps_.size() > keep) {
    // Off the stack first: an undo that throws must not be tried a second time by the destructor.
    const Step step = std::move(steps_.back());
    steps_.pop_back();
    try {
      if (step.undo) step.undo();
    } catch (const std::exception& error) {
      failures.push_back("could not undo \"" + step.what + "\": " + error.what());
    } catch (...) {
      failures.push_back("could not undo \"" + step.what + "\": unknown exception");
    }
  }
  return failures;
}

}  // namespace mongo
