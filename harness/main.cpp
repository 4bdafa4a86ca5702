#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>

#include "harness/cli/command.h"
#include "harness/core/errors.h"
#include "harness/guest/init.h"
#include "harness/run/guest_pass.h"

namespace {

/// A closed stdin, stdout or stderr would be given to the next file that is opened, and that may be the device.
void fill_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // Read-only: what is written there fails as it would on the closed one.
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) abort();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (mongo::is_guest_init()) mongo::guest_main(mongo::work_in_guest);
  fill_standard_descriptors();
  // Modes of files and directories, and with them the work of the file system, do not depend on the caller's umask.
  umask(022);
  mongo::InterruptWatch watch;
  mongo::Console console(watch);
  mongo::CommandContext context{console, watch};
  try {
    const int status = mongo::run_command_line(argc, argv, context);
    if (status == 0 && watch.signal_number() != 0) return 128 + watch.signal_number();
    if (status == 0 && console.lost() != 0) {
      console.error("stdout could not be written: " + mongo::errno_text(console.lost()));
      return static_cast<int>(mongo::ExitStatus::failed);
    }
    return status;
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
