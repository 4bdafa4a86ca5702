#include <sys/stat.h>

#include <exception>

#include "harness/cli/command.h"
#include "harness/core/errors.h"

int main(int argc, char** argv) {
  // Modes of files and directories, and with them the work of the file system, do not depend on the caller's umask.
  umask(022);
  mongo::InterruptWatch watch;
  mongo::Console console(watch);
  mongo::CommandContext context{console, watch};
  try {
    const int status = mongo::run_command_line(argc, argv, context);
    return status == 0 && watch.signal_number() != 0 ? 128 + watch.signal_number() : status;
  } catch (const mongo::Interrupted& interrupted) {
    console.error(interrupted.what());
    return 128 + interrupted.signal_number();
  } catch (const mongo::Error& error) {
    console.error(error.what());
    return static_cast<int>(error.status());
  } catch (const std::exception& error) {
    console.error(std::string("unexpected: ") + error.what());
    return static_cast<int>(mongo::ExitStatus::failed);
  }
}
