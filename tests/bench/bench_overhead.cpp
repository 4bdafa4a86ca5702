// What the tool adds to the system calls it measures.
//
//   bench_overhead DIRECTORY [ROUNDS]
//
// DIRECTORY lies on a mounted file system, best one in memory, where nothing hides the tool's own share. In one run and
// in turn, each round times
//   - a phase through its entry, as a run does, and
//   - a bare loop that makes the same system calls from a list made beforehand: no random numbers, no names to put
//     together, no directory entries to look at, no errors to count.
// Both in a forked child and with the same data, buffers and order of files. For Read and Stats the list is the walk in
// the kernel's order: for each directory open, fchdir, all getdents64, its files, close, fchdir back. What lies between
// (removing, syncing) is not timed. The first round is not counted.
//
// The ratio is the median over the rounds of each round's phase time / bare time. The user share is of all rounds
// together, from getrusage. Where the kernel accounts by ticks (CONFIG_TICK_CPU_ACCOUNTING) it needs many rounds to
// mean something, and counts as user time also the way into the kernel and back, some 30 ns a call: a tick that falls
// due while interrupts are off on the way out is taken by the first user instruction. A loop of nothing but getppid(2)
// has a user share of a third. The bare loop's share, printed beside, is therefore the least that any program can have.

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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
#include "phases/support/tree.h"

namespace {

using namespace mongo::phases;

constexpr double goal_ratio = 1.03;
constexpr double goal_user_percent = 3;
constexpr std::size_t write_buffer_size = 4096;
constexpr std::uint64_t seed = 1;

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
  bool well = false;
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

/// Times the work in a child. `prepare` makes it there, untimed; the work says whether all calls succeeded.
Cost cost_of(const std::function<std::function<bool()>()>& prepare) {
  void* const memory = mmap(nullptr, sizeof(Cost), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  check(memory != MAP_FAILED, "mmap");
  auto* const cost = new (memory) Cost;
  const pid_t child = fork();
  check(child >= 0, "fork");
  if (child == 0) {
    const std::function<bool()> work = prepare();
    rusage before;
    rusage after;
    getrusage(RUSAGE_SELF, &before);
    const auto start = std::chrono::steady_clock::now();
    const bool well = work();
    const auto end = std::chrono::steady_clock::now();
    getrusage(RUSAGE_SELF, &after);
    cost->wall = std::chrono::duration<double>(end - start).count();
    cost->user = seconds(after.ru_utime) - seconds(before.ru_utime);
    cost->system = seconds(after.ru_stime) - seconds(before.ru_stime);
    cost->well = well;
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const Cost result = *cost;
  munmap(memory, sizeof(Cost));
  if (status != 0 || !result.well) {
    std::fprintf(stderr, "a child failed: is the directory empty and is there room for 40 MiB?\n");
    std::exit(1);
  }
  return result;
}

struct Place {
  std::string path;
  int fd;
};

Cost phase_cost(const char* name, const Place& place) {
  return cost_of([&] {
    struct State {
      Counters counters;
      Content content{ContentKind::random, seed, 1, 1, write_buffer_size};
      Context context;
    };
    auto state = std::make_shared<State>();
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

Cost bare_create(const Place& place, const std::vector<Step>& steps) {
  return cost_of([&] {
    auto data = std::make_shared<std::vector<char>>(2 * Content::period);
    Content content(ContentKind::random, seed, 1, 1, data->size() + 1);
    content.begin_file(1);
    std::copy_n(content.piece(data->size()), data->size(), data->data());
    return [&place, &steps, data] {
      bool well = fchdir(place.fd) == 0 && mkdir("testdir1-1-1", 0755) == 0 && chdir("testdir1-1-1") == 0;
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
Cost bare_walk(const Place& place, const std::vector<Step>& steps, PerFile per_file) {
  return cost_of([&] {
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

class Comparison {
 public:
  explicit Comparison(const char* name) : name_(name) {}

  void add(const Cost& phase, const Cost& bare) {
    if (++rounds_ == 1) {
      return;
    }
    ratios_.push_back(phase.wall / bare.wall);
    sum(phase_, phase);
    sum(bare_, bare);
  }

  void print() {
    std::sort(ratios_.begin(), ratios_.end());
    const std::size_t n = ratios_.size();
    const double median = n % 2 == 1 ? ratios_[n / 2] : (ratios_[n / 2 - 1] + ratios_[n / 2]) / 2;
    const double user = user_percent(phase_);
    const double least = user_percent(bare_);
    std::printf("%-7s %9.3f %9.3f %8.4f (%.4f to %.4f) %-8s %6.2f %9.2f  %s\n", name_,
                1e3 * phase_.wall / static_cast<double>(n), 1e3 * bare_.wall / static_cast<double>(n), median,
                ratios_[n / 4], ratios_[n * 3 / 4], median <= goal_ratio ? "met" : "NOT MET", user, least,
                user <= goal_user_percent    ? "met"
                : least >= goal_user_percent ? "not met; not by the bare loop either"
                                             : "NOT MET");
  }

 private:
  static void sum(Cost& total, const Cost& cost) {
    total.wall += cost.wall;
    total.user += cost.user;
    total.system += cost.system;
  }
  static double user_percent(const Cost& cost) { return 100 * cost.user / (cost.user + cost.system); }

  const char* name_;
  int rounds_ = 0;
  std::vector<double> ratios_;
  Cost phase_;
  Cost bare_;
};

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 30;
  if (argc < 2 || argc > 3 || rounds < 1) {
    std::fprintf(stderr, "usage: bench_overhead DIRECTORY [ROUNDS]   (an empty directory; 30 rounds)\n");
    return 2;
  }
  std::unique_ptr<char, decltype(&std::free)> path(realpath(argv[1], nullptr), std::free);
  check(path != nullptr, argv[1]);
  const Place place{path.get(), open(path.get(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  check(place.fd >= 0, argv[1]);
  StepMaker maker;
  generate_tree(classic_100, maker);

  Comparison create("Create");
  Comparison read("Read");
  Comparison stats("Stats");
  const auto remove_and_sync = [&] {
    phase_cost("delete", place);
    syncfs(place.fd);
  };
  // Which of the two comes first changes from round to round.
  const auto pair = [](int round, Comparison& comparison, auto phase, auto bare) {
    Cost costs[2];
    costs[round % 2] = round % 2 == 0 ? phase() : bare();
    costs[1 - round % 2] = round % 2 == 0 ? bare() : phase();
    comparison.add(costs[0], costs[1]);
  };
  for (int round = 0; round <= rounds; ++round) {
    pair(
        round, create,
        [&] {
          const Cost cost = phase_cost("create", place);
          remove_and_sync();
          return cost;
        },
        [&] {
          const Cost cost = bare_create(place, maker.steps);
          remove_and_sync();
          return cost;
        });
  }
  phase_cost("create", place);
  syncfs(place.fd);
  std::vector<Step> steps;
  list_walk(openat(place.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), steps);
  // These are short: more of them, for the sake of the ticks.
  for (int round = 0; round <= 10 * rounds; ++round) {
    pair(
        round, read, [&] { return phase_cost("read", place); }, [&] { return bare_walk(place, steps, bare_read); });
    pair(
        round, stats, [&] { return phase_cost("stat", place); }, [&] { return bare_walk(place, steps, bare_stat); });
  }
  remove_and_sync();

  std::printf(
      "%d rounds of classic-100, ten times as many for Read and Stats (%zu files and directories); goals: ratio at "
      "most %.2f, user CPU at most %.0f %%\n",
      rounds, maker.steps.size(), goal_ratio, goal_user_percent);
  std::printf("phase    phase ms   bare ms    ratio (quartiles)                 user %%  of bare\n");
  for (Comparison* comparison : {&create, &read, &stats}) {
    comparison->print();
  }
}
