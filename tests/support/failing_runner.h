#pragma once

#include <string>
#include <vector>

#include "harness/core/errors.h"
#include "harness/process/runner.h"

namespace mongo::test {

enum class Failure { refused, not_started, reported, signalled };

inline const char* name_of(Failure failure) {
  switch (failure) {
    case Failure::refused:
      return "exit status 1 without running";
    case Failure::not_started:
      return "cannot be started";
    case Failure::reported:
      return "does its work and reports failure";
    case Failure::signalled:
      return "SIGTERM to the tool while it runs";
  }
  return "";
}

/// Runs programs for real, but one: number `victim`, counted from 1, goes wrong.
class FailingRunner : public ProcessRunner {
 public:
  FailingRunner(const InterruptWatch& watch, int victim, Failure failure)
      : real_(&watch), victim_(victim), failure_(failure) {}

  CommandResult run(const Command& command) override {
    names_.push_back(command.argv.at(0));
    if (++count_ != victim_) return real_.run(command);
    switch (failure_) {
      case Failure::refused:
        return failed({});
      case Failure::not_started:
        throw RunError("exec", command.argv[0] + " could not be started: made to fail");
      case Failure::reported:
        return failed(real_.run(command));
      case Failure::signalled:
        break;
    }
    Command signalled = command;
    // $PPID is this process: the signal comes while the program is at work for certain.
    signalled.argv = {"sh", "-c", "kill -TERM $PPID; exec \"$0\" \"$@\"", find_program(command.argv[0])};
    signalled.argv.insert(signalled.argv.end(), command.argv.begin() + 1, command.argv.end());
    return real_.run(signalled);
  }

  int count() const { return count_; }
  const std::vector<std::string>& names() const { return names_; }

 private:
  static CommandResult failed(CommandResult result) {
    result.exit_status = 1;
    result.err = "made to fail\n";
    return result;
  }

  RealRunner real_;
  int victim_, count_ = 0;
  Failure failure_;
  std::vector<std::string> names_;
};

}  // namespace mongo::test
