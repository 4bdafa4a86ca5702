#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/process/args.hpp>
#include <boost/process/async_pipe.hpp>
#include <boost/process/child.hpp>
#include <boost/process/env.hpp>
#include <boost/process/environment.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/group.hpp>
#include <boost/process/io.hpp>
#include <boost/process/start_dir.hpp>
#include <chrono>
#include <functional>

#include "harness/core/errors.h"
#include "harness/process/runner.h"

namespace mongo {
namespace {

namespace asio = boost::asio;
namespace bp = boost::process;

constexpr std::size_t kept_output = 1 << 20;

/// Reads one of the program's outputs to its end, keeping the first MiB.
class Collector {
 public:
  Collector(asio::io_context& context, std::string& target) : pipe_(context), target_(target) {}
  bp::async_pipe& pipe() { return pipe_; }
  void start() {
    pipe_.async_read_some(asio::buffer(buffer_), [this](const boost::system::error_code& error, std::size_t size) {
      target_.append(buffer_, std::min(size, kept_output - target_.size()));
      if (!error) return start();
      ended_ = true;
      if (at_end_) at_end_();
    });
  }
  bool ended() const { return ended_; }
  void at_end(std::function<void()> action) { at_end_ = std::move(action); }
  void stop() {
    boost::system::error_code ignored;
    std::move(pipe_).source().close(ignored);
  }

 private:
  bp::async_pipe pipe_;
  std::string& target_;
  std::function<void()> at_end_;
  bool ended_ = false;
  char buffer_[4096];
};

/// What the child does between fork and exec: nothing of this process's signal handling is left, and it cannot outlive
/// us.
struct ChildSetup : bp::extend::handler {
  pid_t parent = getpid();
  template <typename Executor>
  void on_exec_setup(Executor&) const {
    InterruptWatch::restore_defaults();
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) raise(SIGKILL);
  }
};

bp::environment clean_environment() {
  bp::environment environment = boost::this_process::environment();
  environment["LC_ALL"] = "C";
  environment.erase("LANGUAGE");
  return environment;
}

}  // namespace

CommandResult RealRunner::run(const Command& command) {
  try {
    return run_program(command);
  } catch (const std::system_error& error) {
    throw RunError("exec", command.argv.at(0) + " could not be started: " + error.code().message());
  } catch (const boost::system::system_error& error) {
    throw RunError("exec", command.argv.at(0) + " could not be started: " + error.code().message());
  }
}

CommandResult RealRunner::run_program(const Command& command) {
  const std::string program = find_program(command.argv.at(0));
  if (program.empty()) {
    throw RunError("exec", command.argv[0] + ": no such program in PATH, /usr/local/sbin, /usr/sbin or /sbin");
  }
  if (watch_ != nullptr) watch_->check();

  CommandResult result;
  asio::io_context context;
  Collector out(context, result.out), err(context, result.err);
  const auto start = std::chrono::steady_clock::now();
  bp::group group;
  bp::child child(bp::exe = program, bp::args = std::vector<std::string>(command.argv.begin() + 1, command.argv.end()),
                  bp::std_in<bp::null, bp::std_out> out.pipe(), bp::std_err > err.pipe(), clean_environment(),
                  bp::start_dir = "/", group, ChildSetup{});

  // A pidfd tells of the end without a SIGCHLD handler, which would also meet the workers. Source: pidfd_open(2).
  asio::posix::stream_descriptor ended(context, static_cast<int>(syscall(SYS_pidfd_open, child.id(), 0)));
  asio::steady_timer deadline(context, command.deadline);
  asio::posix::stream_descriptor interrupt(context);
  asio::steady_timer drain(context);
  bool interrupted = false;

  const auto finish = [&] {
    out.stop();
    err.stop();
    deadline.cancel();
    if (interrupt.is_open()) interrupt.cancel();
  };
  ended.async_wait(asio::posix::stream_descriptor::wait_read, [&](const boost::system::error_code& error) {
    if (error) return;
    // What it wrote is in the pipes already. A grandchild that keeps them open is not waited for longer than this.
    const auto finish_if_read = [&, finish] {
      if (!out.ended() || !err.ended()) return false;
      drain.cancel();
      finish();
      return true;
    };
    if (finish_if_read()) return;
    out.at_end(finish_if_read);
    err.at_end(finish_if_read);
    drain.expires_after(std::chrono::milliseconds(100));
    drain.async_wait([&](const boost::system::error_code& cancelled) {
      if (!cancelled) finish();
    });
  });
  deadline.async_wait([&](const boost::system::error_code& error) {
    if (error) return;
    result.timed_out = true;
    std::error_code ignored;
    group.terminate(ignored);
  });
  if (watch_ != nullptr) {
    interrupt.assign(dup(watch_->descriptor()));
    interrupt.async_wait(asio::posix::stream_descriptor::wait_read, [&](const boost::system::error_code& error) {
      if (error) return;
      interrupted = true;
      std::error_code ignored;
      group.terminate(ignored);
    });
  }
  out.start();
  err.start();
  context.run();

  // What it left in the background ends with it; the group's number is its own until it is waited for.
  kill(-child.id(), SIGKILL);
  std::error_code wait_error;
  child.wait(wait_error);
  group.detach();
  result.seconds = std::chrono::steady_clock::now() - start;
  // exit_code() says 9 both for exit(9) and for SIGKILL.
  const int status = child.native_exit_code();
  if (WIFSIGNALED(status)) {
    result.signal = WTERMSIG(status);
  } else {
    result.exit_status = WEXITSTATUS(status);
  }
  if (interrupted) watch_->check();
  return result;
}

}  // namespace mongo
