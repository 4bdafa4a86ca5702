#include "harness/matrix/cell_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "harness/core/descriptor.h"
#include "harness/core/errors.h"
#include "harness/matrix/files.h"
#include "harness/measure/host.h"
#include "harness/process/runner.h"
#include "harness/report/record_json.h"
#include "harness/report/text.h"
#include "harness/run/cell_runner.h"
#include "harness/run/record_start.h"

namespace mongo {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

/// Longer than `mongo status` looks at a lock.
constexpr auto lock_patience = std::chrono::seconds(2);

/// Tells the process above how far the cell is: a line of JSON each time.
class PipeObserver : public RunObserver {
 public:
  PipeObserver(int pipe, std::string log, int interval) : pipe_(pipe), interval_(interval) {
    progress_.log = std::move(log);
  }
  void note(const std::string& /*text*/) override {}  // is in the record
  void phase_started(std::uint64_t median_file_size, const std::string& label, std::uint64_t planned) override {
    progress_.phase = label;
    progress_.median_file_size_bytes = median_file_size;
    progress_.files_planned = planned;
    phase_progress(0, 0);
  }
  void phase_progress(std::uint64_t files_done, double elapsed_seconds) override {
    progress_.files_done = files_done;
    progress_.seconds = elapsed_seconds;
    const std::string line = to_json(progress_).dump() + "\n";
    // A short line goes into a pipe whole or, when nobody reads, not at all.
    [[maybe_unused]] const ssize_t written = write(pipe_, line.data(), line.size());
  }
  void phase_finished(std::uint64_t /*median_file_size*/, const PhaseRecord& /*phase*/) override {}
  int progress_interval() const override { return interval_; }

 private:
  int pipe_, interval_;
  CellProgress progress_;
};

/// What the process hands back.
struct Answer {
  std::optional<RunRecord> record;
  std::string results_problem;
  std::string refusal;
};

RunRecord record_of(const Cell& cell, Status status, const std::string& reason) {
  RunRecord record = start_record(cell);
  record.status = status;
  record.reason = reason;
  record.ended_at = utc_now();
  return record;
}

/// In the new process. Whatever happens becomes a record.
Answer run_here(const CellJob& job, const InterruptWatch& watch, int pipe) {
  const Cell& cell = *job.cell;
  try {
    const Descriptor lock = take_lock(job.lock_file, lock_patience, &watch, LockKind::shared);
    if (!lock)
      return {std::nullopt, fmt::format("results: {} is locked by somebody else", one_line(job.lock_file)), ""};
    if (chdir(job.folder.c_str()) != 0) {
      throw RunError("start", fmt::format("cannot go to {}, where the run was begun: {}", one_line(job.folder),
                                          errno_text(errno)));
    }
    PipeObserver observer(pipe, cell.log, job.progress_interval);
    RealRunner runner(&watch);
    return {run_cell(cell, {runner, watch, observer}), "", ""};
  } catch (const Interrupted& interrupted) {
    return {record_of(cell, Status::interrupted, interrupted.what()), "", ""};
  } catch (const Unsupported& unsupported) {
    return {record_of(cell, Status::unsupported, unsupported.what()), "", ""};
  } catch (const RunError& error) {
    if (error.step() == "results") return {std::nullopt, error.what(), ""};
    return {record_of(cell, Status::failed, error.what()), "", ""};
  } catch (const DeviceRefused& refused) {
    return {std::nullopt, "", refused.what()};
  } catch (const Error& error) {
    return {record_of(cell, Status::failed, error.what()), "", ""};
  } catch (const std::exception& error) {
    return {record_of(cell, Status::failed, std::string("unexpected: ") + error.what()), "", ""};
  }
}

/// The life of the process. Never returns.
[[noreturn]] void be_cell(const CellJob& job, pid_t parent, const sigset_t& signals, int pipe, int answer_file) {
  try {
    // Its signals are its own from here on; those that have come meanwhile are waiting.
    const InterruptWatch watch;
    // When the process above is killed, what was done is undone.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) raise(SIGTERM);
    sigprocmask(SIG_SETMASK, &signals, nullptr);
    // A lock is held by all copies of its descriptor, and that of the matrix is to be free when its process has ended.
    if (job.close_descriptor >= 0) close(job.close_descriptor);
    const Answer answer = run_here(job, watch, pipe);
    Json json;
    if (answer.record) {
      json["record"] = to_json(*answer.record);
    } else if (!answer.refusal.empty()) {
      json["refusal"] = valid_utf8(answer.refusal);
    } else {
      json["results_problem"] = valid_utf8(answer.results_problem);
    }
    const std::string text = json.dump();
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t wrote = write(answer_file, text.data() + done, text.size() - done);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) _exit(1);
      done += static_cast<std::size_t>(wrote);
    }
    _exit(0);
  } catch (...) {
    _exit(1);
  }
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("the cell's process was killed by signal {} ({})", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
  }
  return fmt::format("the cell's process ended with status {} and without a record", WEXITSTATUS(status));
}

/// Nothing unless the text is whole.
std::optional<Answer> read_answer(int file) {
  const off_t size = lseek(file, 0, SEEK_END);
  std::string text(size > 0 ? static_cast<std::size_t>(size) : 0, '\0');
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t got = pread(file, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    done += static_cast<std::size_t>(got);
  }
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  if (json.contains("results_problem")) return Answer{std::nullopt, json["results_problem"], ""};
  if (json.contains("refusal")) return Answer{std::nullopt, "", json["refusal"]};
  try {
    return Answer{record_from_json(json.at("record")), "", ""};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

CellProcess::CellProcess(const CellJob& job) : cell_(job.cell), start_(Clock::now()), started_(std::time(nullptr)) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) throw RunError("start", "pipe: " + errno_text(errno));
  news_ = Descriptor(ends[0]);
  news_end_ = Descriptor(ends[1]);
  // In memory: a full disk must not lose it.
  answer_file_ = Descriptor(memfd_create("mongo-record", MFD_CLOEXEC));
  if (!answer_file_) throw RunError("start", "memfd_create: " + errno_text(errno));
  const pid_t self = getpid();
  // No signal may come between the fork and the new process's own handling of them.
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  pid_ = fork();
  if (pid_ == 0) be_cell(job, self, before, news_end_.get(), answer_file_.get());
  const int error = errno;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid_ < 0) throw RunError("start", "fork: " + errno_text(error));
  pidfd_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
}

CellProcess::~CellProcess() {
  if (pid_ < 0) return;
  interrupt(SIGTERM);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<CellProgress> CellProcess::news() {
  char buffer[4096];
  ssize_t got = 0;
  while ((got = read(news_.get(), buffer, sizeof buffer)) > 0) text_.append(buffer, static_cast<std::size_t>(got));
  // The newest whole line.
  const std::size_t end = text_.rfind('\n');
  if (end == std::string::npos) return std::nullopt;
  const std::size_t before = end == 0 ? std::string::npos : text_.rfind('\n', end - 1);
  const std::size_t start = before == std::string::npos ? 0 : before + 1;
  const Json json = Json::parse(text_.substr(start, end - start), nullptr, false);
  text_.erase(0, end + 1);
  return progress_from_json(json);
}

void CellProcess::interrupt(int signal) const {
  // A closed stdout is not the cell's, and it ignores SIGPIPE.
  if (pid_ > 0) kill(pid_, signal == SIGPIPE ? SIGTERM : signal);
}

std::optional<CellOutcome> CellProcess::outcome() {
  if (pid_ < 0) return std::nullopt;
  int status = 0;
  const pid_t ended = waitpid(pid_, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
  pid_ = -1;
  return make_outcome(ended < 0 ? 0 : status);
}

double CellProcess::elapsed_seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

CellOutcome CellProcess::make_outcome(int status) const {
  CellOutcome outcome;
  outcome.seconds = elapsed_seconds();
  if (std::optional<Answer> answer = read_answer(answer_file_.get())) {
    outcome.results_problem = answer->results_problem;
    outcome.refusal = answer->refusal;
    if (answer->record) outcome.record = std::move(*answer->record);
  } else {
    outcome.died = true;
    outcome.record = record_of(*cell_, Status::failed, how_it_ended(status));
    outcome.record.started_at = utc_text(started_);
    outcome.record.utc_offset = utc_offset(started_);
  }
  return outcome;
}

}  // namespace mongo
