#include "harness/core/interrupt.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <stdexcept>

#include "harness/core/errors.h"

namespace mongo {
namespace {

// A handler can only reach what has static storage.
std::atomic<int> first_signal{0};
std::atomic<int> wake_descriptor{-1};
static_assert(std::atomic<int>::is_always_lock_free);

// Those that people and service managers send, and those whose default would end the run without a clean-up.
constexpr int watched[] = {SIGINT,  SIGTERM, SIGHUP,    SIGQUIT, SIGUSR1, SIGUSR2,
                           SIGALRM, SIGXCPU, SIGVTALRM, SIGPROF, SIGPWR};

void note(int signal_number) {
  int none = 0;
  first_signal.compare_exchange_strong(none, signal_number);
  const std::uint64_t one = 1;
  // eventfd(2): can only fail when the counter is full, and then it is readable already.
  [[maybe_unused]] const ssize_t written = write(wake_descriptor.load(), &one, sizeof one);
}

void handle(int signal_number) {
  const int saved = errno;
  note(signal_number);
  errno = saved;
}

}  // namespace

InterruptWatch::InterruptWatch() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) throw std::runtime_error("eventfd: " + errno_text(errno));
  first_signal = 0;
  wake_descriptor = descriptor_;
  struct sigaction action {};
  action.sa_handler = handle;
  // One at a time, so that the first to come is the first to be noted.
  sigfillset(&action.sa_mask);
  for (const int signal_number : watched) {
    struct sigaction before {};
    sigaction(signal_number, nullptr, &before);
    // nohup and background shells ignore a signal on purpose.
    if (before.sa_handler == SIG_IGN) continue;
    if (sigaction(signal_number, &action, nullptr) != 0) throw std::runtime_error("sigaction: " + errno_text(errno));
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

InterruptWatch::~InterruptWatch() {
  restore_defaults();
  wake_descriptor = -1;
  close(descriptor_);
}

int InterruptWatch::signal_number() const { return first_signal.load(); }

void InterruptWatch::check() const {
  if (const int signal_number = first_signal.load(); signal_number != 0) throw Interrupted(signal_number);
}

void InterruptWatch::raise(int signal_number) { note(signal_number); }

void InterruptWatch::restore_defaults() {
  for (const int signal_number : watched) {
    struct sigaction before {};
    sigaction(signal_number, nullptr, &before);
    if (before.sa_handler == handle) std::signal(signal_number, SIG_DFL);
  }
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_DFL);
}

}  // namespace mongo
