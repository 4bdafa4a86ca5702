#include "harness/workers/worker.h"

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>

#include "phases/support/content.h"

namespace mongo::workers {
namespace {

/// What the pieces of the content are made for. A comparison takes larger ones than the phase wrote: the bytes are the
/// same.
std::size_t content_buffer_size(const RepetitionRequest& request) {
  constexpr std::size_t for_comparison = 65537;
  return request.verify ? std::max(request.write_buffer_size, for_comparison) : request.write_buffer_size;
}

}  // namespace

std::int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::chrono::milliseconds timeout) {
  timespec time{};
  time.tv_sec = timeout.count() / 1000;
  time.tv_nsec = timeout.count() % 1000 * 1'000'000;
  // Every answer (woken, value changed, timed out, interrupted) means: look again.
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, &time, nullptr, 0);
}

void futex_wake_all(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

void be_worker(const RepetitionRequest& request, int process, pid_t parent, Barrier& barrier, Slot& slot,
               phases::Latencies* latencies, int done) {
  try {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    setpgid(0, 0);  // Ctrl-C reaches the harness, which then ends the processes
    InterruptWatch::restore_defaults();
    std::signal(SIGXFSZ, SIG_IGN);  // a file size limit is an error of a write, and counted

    umask(022);  // the modes of what is made must not depend on who calls

    phases::Content content(request.content, request.content_seed, request.repetition, process,
                            content_buffer_size(request));
    phases::Context context;
    context.mount_fd = request.mount_fd;
    context.mount_path = request.mount_path;
    context.own_files = request.own_files;
    context.repetition = request.repetition;
    context.process = process;
    context.tree = request.tree;
    context.write_buffer_size = request.write_buffer_size;
    context.sync_each = request.sync_each;
    context.content = &content;
    context.counters = &slot.counters;
    if (latencies != nullptr) latencies->tick_scale = request.tick_scale;
    context.latencies = latencies;
    if (fchdir(request.mount_fd) != 0) {
      slot.counters.count_error(phases::Operation::change_directory, errno, "", ".");
      _exit(2);
    }

    barrier.ready.fetch_add(1);
    futex_wake_all(barrier.ready);
    while (barrier.open.load(std::memory_order_acquire) == 0) futex_wait(barrier.open, 0, std::chrono::seconds(1));

    getrusage(RUSAGE_SELF, &slot.before);
    slot.start_ns = now_ns();
    (request.verify ? request.phase->verify : request.phase->run)(context);
    slot.end_ns = now_ns();
    getrusage(RUSAGE_SELF, &slot.after);
    slot.finished = true;
    const std::uint64_t one = 1;
    if (done >= 0 && write(done, &one, sizeof one) == static_cast<ssize_t>(sizeof one)) {
      while (barrier.released.load(std::memory_order_acquire) == 0) {
        futex_wait(barrier.released, 0, std::chrono::seconds(1));
      }
    }
    _exit(0);
  } catch (...) {
    _exit(3);  // out of memory before the barrier, or a broken phase; the parent reports it
  }
}

}  // namespace mongo::workers
