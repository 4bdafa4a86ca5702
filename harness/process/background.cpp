#include "harness/process/background.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "harness/core/errors.h"
#include "harness/core/interrupt.h"
#include "harness/process/runner.h"

namespace mongo {
namespace {

constexpr std::size_t kept_output = 1 << 16;
constexpr std::chrono::seconds kill_patience(60);  // what is in the middle of a system call ends after that

std::vector<std::string> clean_environment() {
  std::vector<std::string> environment{"LC_ALL=C"};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!text.starts_with("LC_ALL=") && !text.starts_with("LANGUAGE=")) environment.push_back(text);
  }
  return environment;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

/// The child, between fork and exec. Returns only with an errno.
int become(const char* program, char* const* argv, char* const* environment, int output, pid_t parent) {
  InterruptWatch::restore_defaults();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) raise(SIGKILL);
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0 || dup2(null, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0 || chdir("/") != 0) return errno;
  execve(program, argv, environment);
  return errno;
}

}  // namespace

BackgroundProcess::BackgroundProcess(const std::vector<std::string>& argv) : owner_(getpid()) {
  const auto fail = [&](int error) {
    throw RunError("exec", fmt::format("{} could not be started: {}", argv.at(0), errno_text(error)));
  };
  const std::string program = find_program(argv.at(0));
  if (program.empty()) {
    throw RunError("exec", argv[0] + ": no such program in PATH, /usr/local/sbin, /usr/sbin or /sbin");
  }
  // A file and not a pipe: nobody has to read it while the program runs.
  output_ = Descriptor(memfd_create("mongo-output", MFD_CLOEXEC));
  int report[2] = {-1, -1};
  if (!output_ || pipe2(report, O_CLOEXEC) != 0) fail(errno);
  Descriptor reader(report[0]), writer(report[1]);
  std::vector<std::string> words = argv, environment = clean_environment();
  const std::vector<char*> word_pointers = pointers(words), environment_pointers = pointers(environment);
  pid_ = fork();
  if (pid_ < 0) fail(errno);
  if (pid_ == 0) {
    const int error = become(program.c_str(), word_pointers.data(), environment_pointers.data(), output_.get(), owner_);
    _exit(write(writer.get(), &error, sizeof error) == sizeof error ? 127 : 126);
  }
  setpgid(pid_, pid_);  // here too: whoever is first
  writer = Descriptor();
  int error = 0;
  ssize_t got = 0;
  while ((got = read(reader.get(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (got == sizeof error) {
    end(SIGKILL, std::chrono::milliseconds(0));
    fail(error);
  }
}

BackgroundProcess::~BackgroundProcess() {
  if (getpid() == owner_) end(SIGKILL, std::chrono::milliseconds(0));
}

std::optional<int> BackgroundProcess::ended() {
  int status = 0;
  if (!status_ && pid_ > 0 && waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  return status_;
}

std::optional<int> BackgroundProcess::wait(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::chrono::milliseconds pause(1);
  while (!ended() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(20));
  }
  return status_;
}

std::optional<int> BackgroundProcess::end(int signal, std::chrono::milliseconds patience) {
  if (pid_ <= 0) return 0;
  if (!ended()) kill(-pid_, signal);
  if (!wait(patience)) kill(-pid_, SIGKILL);
  return wait(kill_patience);
}

std::string BackgroundProcess::output() const {
  std::string text(kept_output, '\0');
  const ssize_t got = output_ ? pread(output_.get(), text.data(), text.size(), 0) : -1;
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

}  // namespace mongo
