// What the tool adds to the system calls it measures.
//
//   bench_overhead DIRECTORY [ROUNDS [PROCESSES...]]
//
// DIRECTORY lies on a mounted file system, best one in memory, where nothing hides the tool's own share. In one run and
// in turn, each round times
//   - a phase through its entry, as a run does, without measuring latencies,
//   - the same with latencies, and
//   - a bare loop that makes the same system calls from a list made beforehand: no random numbers, no names to put
//     together, no directory entries to look at, no errors to count.
// All in forked children that start together and with the same data, buffers and order of files. For Read and Stats the
// list is the walk in the kernel's order: for each directory open, fchdir, all getdents64, its files, close, fchdir
// back. What lies between (removing, syncing) is not timed. The first round is not counted.
//
// The time is that from the first child's start to the last one's end. Ratios are medians over the rounds: off / bare
// for what the tool adds, on / off for what measuring latencies adds. The user share is of all rounds
// together, from getrusage. Where the kernel accounts by ticks (CONFIG_TICK_CPU_ACCOUNTING) it needs many rounds to
// mean something, and counts as user time also the way into the kernel and back, some 30 ns a call: a tick that falls
// due while interrupts are off on the way out is taken by the first user instruction. A loop of nothing but getppid(2)
// has a user share of a third. The bare loop's share, printed beside, is therefore the least that any program can have.

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "phases/catalogue.h"
#include "phases/support/content.h"
#include "phases/support/latency.h"
#include "phases/support/ticks.h"
#include "phases/support/tree.h"

namespace {

using namespace mongo::phases;

constexpr double goal_ratio = 1.03;
constexpr double goal_user_percent = 3;
constexpr std::size_t write_buffer_size = 4096;
constexpr std::uint64_t seed = 1;
std::uint64_t tick_scale = 0;  // as a run finds it out

const TreeParameters classic_100{.bytes_to_consume = 10485760,
                                 .median_file_size = 100,
                                 .max_file_size = 100000,
                                 .median_dir_files = 100,
                                 .max_dir_files = 10000,
                                 .median_dir_branching = 0,
                                 .max_dir_branching = 1};

struct Cost {
  double wall = 0;  // seconds, as the next two
  double user = 0;
  double system = 0;
};

void check(bool well, const char* what) {
  if (!well) {
    std::perror(what);
    std::exit(1);
  }
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

using Work = std::function<bool()>;
using Prepare = std::function<Work(int process)>;  // untimed; the work says whether all calls succeeded

/// What the children share.
struct Shared {
  std::atomic<int> ready{0};
  std::atomic<bool> open{false};
  struct Child {
    std::chrono::steady_clock::time_point start, end;
    double user = 0, system = 0;
    bool well = false;
  } children[64];
};

[[noreturn]] void be_child(Shared& shared, int process, const Prepare& prepare) {
  const Work work = prepare(process);
  Shared::Child& child = shared.children[process - 1];
  shared.ready.fetch_add(1);
  while (!shared.open.load()) sched_yield();
  rusage before;
  rusage after;
  getrusage(RUSAGE_SELF, &before);
  child.start = std::chrono::steady_clock::now();
  child.well = work();
  child.end = std::chrono::steady_clock::now();
  getrusage(RUSAGE_SELF, &after);
  child.user = seconds(after.ru_utime) - seconds(before.ru_utime);
  child.system = seconds(after.ru_stime) - seconds(before.ru_stime);
  _exit(0);
}

/// Times the work in so many children, numbered from 1.
Cost cost_of(int processes, const Prepare& prepare) {
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  check(memory != MAP_FAILED, "mmap");
  auto* const shared = new (memory) Shared;
  for (int process = 1; process <= processes; ++process) {
    const pid_t child = fork();
    check(child >= 0, "fork");
    if (child == 0) be_child(*shared, process, prepare);
  }
  while (shared->ready.load() < processes) sched_yield();
  shared->open.store(true);
  bool well = true;
  for (int process = 1; process <= processes; ++process) {
    int status = 0;
    wait(&status);
    well &= status == 0;
  }
  Cost result;
  auto first = shared->children[0].start, last = shared->children[0].end;
  for (int process = 0; process < processes; ++process) {
    const Shared::Child& child = shared->children[process];
    first = std::min(first, child.start);
    last = std::max(last, child.end);
    result.user += child.user;
    result.system += child.system;
    well &= child.well;
  }
  result.wall = std::chrono::duration<double>(last - first).count();
  munmap(memory, sizeof(Shared));
  if (!well) {
    std::fprintf(stderr, "a child failed: is the directory empty and is there room for 20 MiB a process?\n");
    std::exit(1);
  }
  return result;
}

struct Place {
  std::string path;
  int fd;
};

Cost phase_cost(const char* name, const Place& place, int processes, bool latencies) {
  return cost_of(processes, [&](int process) -> Work {
    struct State {
      explicit State(int process) : content({ContentKind::random}, seed, 1, process, write_buffer_size) {}
      Counters counters;
      Content content;
      Context context;
      Latencies latencies{};
    };
    auto state = std::make_shared<State>(process);
    state->context.process = process;
    if (latencies) {
      state->latencies.tick_scale = tick_scale;
      state->context.latencies = &state->latencies;
    }
    state->context.mount_fd = place.fd;
    state->context.mount_path = place.path;
    state->context.tree = classic_100;
    state->context.write_buffer_size = write_buffer_size;
    state->context.content = &state->content;
    state->context.counters = &state->counters;
    const Phase* const phase = find(name);
    return [state, phase] {
      phase->run(state->context);
      return state->counters.error_kinds == 0;
    };
  });
}

/// One step of a list: all that is needed is in it.
struct Step {
  enum Kind : char { file, enter, leave } kind;
  char name[23];
  std::uint64_t size;
  std::uint64_t data;  // offset in the data of the file's first byte
};

struct StepMaker {
  std::vector<Step> steps;
  void file(std::uint64_t number, std::uint64_t size) { add(Step::file, "%lu", number, size); }
  void enter_directory(std::uint64_t number) { add(Step::enter, "d%lu", number, 0); }
  void leave_directory() { add(Step::leave, "..", 0, 0); }
  template <std::size_t n>
  void add(Step::Kind kind, const char (&format)[n], std::uint64_t number, std::uint64_t size) {
    Step step{kind, "", size, number * 0x9e3779b97f4a7c15 % Content::period};
    std::snprintf(step.name, sizeof step.name, format, number);
    steps.push_back(step);
  }
};

Cost bare_create(const Place& place, const std::vector<Step>& steps, int processes) {
  return cost_of(processes, [&](int process) -> Work {
    const std::string top = tree_directory(1, 1, process);
    auto data = std::make_shared<std::vector<char>>(2 * Content::period);
    Content content(ContentKind::random, seed, 1, 1, data->size() + 1);
    content.begin_file(1);
    std::copy_n(content.piece(data->size()), data->size(), data->data());
    return [&place, &steps, data, top] {
      bool well = fchdir(place.fd) == 0 && mkdir(top.c_str(), 0755) == 0 && chdir(top.c_str()) == 0;
      for (const Step& step : steps) {
        if (step.kind == Step::file) {
          const int fd = open(step.name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0777);
          well &= fd >= 0;
          for (std::uint64_t at = 0; at < step.size;) {
            const std::uint64_t length = std::min(step.size - at, write_buffer_size - 1);
            const char* const bytes = data->data() + (step.data + at) % Content::period;
            well &= write(fd, bytes, length) == static_cast<ssize_t>(length);
            at += length;
          }
          well &= close(fd) == 0;
        } else if (step.kind == Step::enter) {
          well &= mkdir(step.name, 0755) == 0 && chdir(step.name) == 0;
        } else {
          well &= chdir("..") == 0;
        }
      }
      return well;
    };
  });
}

/// Appends the walk of the directory open as fd, in the order of the kernel.
void list_walk(int fd, std::vector<Step>& steps) {
  DIR* const directory = fdopendir(fd);
  check(directory != nullptr, "fdopendir");
  const auto step = [](Step::Kind kind, const char* name) {
    Step s{kind, "", 0, 0};
    check(std::snprintf(s.name, sizeof s.name, "%s", name) < static_cast<int>(sizeof s.name), name);
    return s;
  };
  while (const dirent* entry = readdir(directory)) {
    const std::string name = entry->d_name;
    if (entry->d_type == DT_REG) {
      steps.push_back(step(Step::file, entry->d_name));
    } else if (entry->d_type == DT_DIR && name != "." && name != "..") {
      steps.push_back(step(Step::enter, entry->d_name));
      const int below = openat(dirfd(directory), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      check(below >= 0, name.c_str());
      list_walk(below, steps);
      steps.push_back(step(Step::leave, ""));
    }
  }
  closedir(directory);
}

template <class PerFile>
Cost bare_walk(const Place& place, const std::vector<Step>& steps, int processes, PerFile per_file) {
  return cost_of(processes, [&](int) -> Work {
    auto buffer = std::make_shared<std::vector<char>>(32768);
    auto open_ones = std::make_shared<std::vector<int>>();
    open_ones->reserve(100);
    return [&place, &steps, buffer, open_ones, per_file] {
      const auto enter = [&](const char* name) {
        const int fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        bool well = fd >= 0 && fchdir(fd) == 0;
        while (syscall(SYS_getdents64, fd, buffer->data(), buffer->size()) > 0) {
        }
        open_ones->push_back(fd);
        return well;
      };
      bool well = fchdir(place.fd) == 0 && enter(".");
      for (const Step& step : steps) {
        if (step.kind == Step::file) {
          well &= per_file(step.name);
        } else if (step.kind == Step::enter) {
          well &= enter(step.name);
        } else {
          well &= close(open_ones->back()) == 0;
          open_ones->pop_back();
          well &= fchdir(open_ones->back()) == 0;
        }
      }
      return well & (close(open_ones->back()) == 0);
    };
  });
}

bool bare_stat(const char* name) {
  struct stat status;
  return lstat(name, &status) == 0;
}

bool bare_read(const char* name) {
  static char buffer[write_buffer_size];
  const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  ssize_t length;
  while ((length = read(fd, buffer, sizeof buffer)) > 0) {
  }
  return (length == 0) & (close(fd) == 0);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/// One phase in its three forms.
class Comparison {
 public:
  Comparison(const char* name, int processes) : name_(name), processes_(processes) {}

  /// `form` 0: bare, 1: without latencies, 2: with.
  void round(const std::function<Cost(int form)>& cost) {
    Cost costs[forms];
    // Which one comes first changes from round to round.
    for (int i = 0; i < forms; ++i) costs[(i + rounds_) % forms] = cost((i + rounds_) % forms);
    if (++rounds_ == 1) return;
    for (int form = 0; form < forms; ++form) {
      total_[form].wall += costs[form].wall;
      total_[form].user += costs[form].user;
      total_[form].system += costs[form].system;
    }
    off_to_bare_.push_back(costs[1].wall / costs[0].wall);
    on_to_off_.push_back(costs[2].wall / costs[1].wall);
  }

  void print() const {
    const double off = median(off_to_bare_), on = median(on_to_off_);
    const double user = user_percent(total_[1]), least = user_percent(total_[0]);
    const double n = rounds_ - 1;
    std::printf("%-7s %4d %9.2f %9.2f %9.2f %9.3f %-7s %8.3f %-7s %6.2f %8.2f  %s\n", name_, processes_,
                1e3 * total_[0].wall / n, 1e3 * total_[1].wall / n, 1e3 * total_[2].wall / n, off,
                off <= goal_ratio ? "met" : "NOT MET", on, on <= goal_ratio ? "met" : "NOT MET", user, least,
                user <= goal_user_percent    ? "met"
                : least >= goal_user_percent ? "not met; not by the bare loop either"
                                             : "NOT MET");
    std::fflush(stdout);
  }

 private:
  static constexpr int forms = 3;
  static double user_percent(const Cost& cost) { return 100 * cost.user / (cost.user + cost.system); }

  const char* name_;
  int processes_;
  int rounds_ = 0;
  std::vector<double> off_to_bare_, on_to_off_;
  Cost total_[forms];
};

void compare_with(int processes, int rounds, const Place& place, const std::vector<Step>& tree) {
  const auto remove_and_sync = [&] {
    phase_cost("delete", place, processes, false);
    syncfs(place.fd);
  };
  Comparison create("Create", processes);
  for (int round = 0; round <= rounds; ++round) {
    create.round([&](int form) {
      const Cost cost =
          form == 0 ? bare_create(place, tree, processes) : phase_cost("create", place, processes, form == 2);
      remove_and_sync();
      return cost;
    });
  }
  create.print();
  phase_cost("create", place, processes, false);
  syncfs(place.fd);
  std::vector<Step> steps;
  list_walk(openat(place.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), steps);
  Comparison read("Read", processes), stats("Stats", processes);
  // These are short: more of them, for the sake of the ticks.
  for (int round = 0; round <= 10 * rounds / processes; ++round) {
    read.round([&](int form) {
      return form == 0 ? bare_walk(place, steps, processes, bare_read)
                       : phase_cost("read", place, processes, form == 2);
    });
    stats.round([&](int form) {
      return form == 0 ? bare_walk(place, steps, processes, bare_stat)
                       : phase_cost("stat", place, processes, form == 2);
    });
  }
  remove_and_sync();
  read.print();
  stats.print();
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 30;
  std::vector<int> counts;
  for (int i = 3; i < argc; ++i) counts.push_back(std::atoi(argv[i]));
  if (counts.empty()) counts = {1, 2, 4, 8};
  const bool good = std::all_of(counts.begin(), counts.end(), [](int count) { return count >= 1 && count <= 64; });
  if (argc < 2 || rounds < 1 || !good) {
    std::fprintf(
        stderr, "usage: bench_overhead DIRECTORY [ROUNDS [PROCESSES...]]   (an empty directory; 30 rounds; 1 2 4 8)\n");
    return 2;
  }
  std::unique_ptr<char, decltype(&std::free)> path(realpath(argv[1], nullptr), std::free);
  check(path != nullptr, argv[1]);
  const Place place{path.get(), open(path.get(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  check(place.fd >= 0, argv[1]);
  const TickCalibration ticks;
  StepMaker maker;
  generate_tree(classic_100, maker);
  usleep(100'000);
  tick_scale = ticks.scale();
  std::printf(
      "%d rounds of classic-100, ten times as many / processes for Read and Stats (%zu files and directories a tree); "
      "goals: ratios at most %.2f, user CPU at most %.0f %%\n",
      rounds, maker.steps.size(), goal_ratio, goal_user_percent);
  std::printf("phase  procs   bare ms    off ms     on ms  off/bare           on/off          user %%  of bare\n");
  for (const int processes : counts) compare_with(processes, rounds, place, maker.steps);
}
