// Ten thousand argument lists that nobody should write, on devices in every state. Always with --dry-run: each has to
// end in time, with a documented status and a reason, with a plan that names no device but the one given, and without
// a trace.
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include <atomic>
#include <ctime>
#include <map>

#include "harness/cli/command.h"
#include "harness/core/errors.h"
#include "tests/cases/mongo_fixture.h"
#include "tests/support/captured.h"
#include "tests/support/hostile_lists.h"
#include "tests/support/printed_words.h"
#include "tests/support/watched_batch.h"

namespace mongo {
namespace {

using test::Captured;
using test::HostileList;
using test::MiB;
constexpr std::uint32_t seed = 20000;
constexpr std::uint32_t lists = 10000;
// Lists that found something once, or that are of a kind that random numbers rarely make; run before all others.
const std::vector<std::vector<std::string>> kept{
    {"run", "--dry-run"},
    {"run", "--dry-run", "--", "--destroy", "--destroy", "--destroy", "--destroy", "--destroy"},
    {"run", "--dry-run", "ext4", "DEVICE\n  mkfs.ext4 /dev/other", "POINT", "log", "1"},
    {"run", "--dry-run", "ext4", "ram:64MiB", "POINT\x1b[2J", "log", "1"},
    {"run", "--dry-run", "ext4", "ram:64MiB", "POINT", "log", "1", "--results", "\x1b]0;title\x07"},
    {"run", "--dry-run", "ext4", "ram:64MiB", "POINT", "log", "1", "--profile", "{}{0}%s%n"},
    {"run", "--dry-run", "ext4", "ram:64MiB", "POINT", "log", "1", "--mkfs-options", "-J device=LABEL=other"},
    {"run", "--dry-run", "ext4", "ram:64MiB", "POINT", "log", "1", "--mkfs-options", "-Jdevice=UUID=1-2"},
    {"run", "--dry-run", "btrfs", "ram:64MiB", "POINT", "log", "1", "--mount-options", "device=OTHER"},
    {"compare", "\xff"},
    {"cleanup", "--"},
    {"doctor", "--results", "\x1b[2J"},
};

std::string shown(const std::string& text) {
  std::string all;
  for (const char c : text.substr(0, 1500)) {
    char hex[8];
    snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned char>(c));
    all += c == '\n' || (c >= 0x20 && c < 0x7f) ? std::string(1, c) : std::string(hex);
  }
  return all + (text.size() > 1500 ? "..." : "");
}

std::string shown(const std::vector<std::string>& arguments) {
  std::string all = "mongo";
  for (const std::string& argument : arguments) all += " [" + shown(argument) + "]";
  return all;
}

class FuzzCases : public test::MongoTest {
 protected:
  void SetUp() override {
    test::MongoTest::SetUp();
    if (IsSkipped()) return;
    world_.folder = folder_;
    for (const char* name : {"cwd", "empty", "full", "wrong"}) test::fs::create_directories(path(name));
    std::ofstream(path("full/keep")) << "kept";
    make_devices();
    make_names();
    make_result_files();
  }

  void TearDown() override {
    if (holder_ >= 0) close(holder_);
    if (!swap_.empty()) test::run({"swapoff", swap_});
    test::MongoTest::TearDown();
  }

  /// Others on the machine, such as other tests, open every device exclusively for a moment.
  static bool patiently(const std::function<bool()>& step) {
    for (int i = 0; i < 50; ++i) {
      if (step()) return true;
      usleep(50'000);
    }
    return false;
  }

  void make_devices() {
    const auto add = [&](std::vector<std::string>& to, std::vector<std::string> format = {}) {
      const std::string node = device(64 * MiB);
      to.push_back(node);
      if (format.empty()) return node;
      format.push_back(node);
      EXPECT_TRUE(patiently([&] { return test::run(format).ok(); })) << format[0];
      return node;
    };
    add(world_.usable);
    add(world_.usable, {"mkfs.ext4", "-Fq", "-L", "mongo", "-U", "6d6f6e67-6f2d-8000-8000-000000000001"});
    add(world_.with_destroy, {"mkfs.ext4", "-Fq", "-L", "other"});
    const std::string partitions = add(world_.with_destroy);
    const int fd = open(partitions.c_str(), O_WRONLY | O_CLOEXEC);
    const std::string entry("\0\0\0\0\x83\0\0\0\x40\0\0\0\0\x40\0\0", 16);
    EXPECT_EQ(pwrite(fd, entry.data(), entry.size(), 446), 16);
    EXPECT_EQ(pwrite(fd, "\x55\xaa", 2, 510), 2);
    close(fd);
    const std::string mounted = add(world_.refused, {"mkfs.ext2", "-Fq"});
    test::fs::create_directories(path("mounted"));
    EXPECT_TRUE(patiently([&] { return test::run({"mount", "-o", "ro", mounted, path("mounted")}).ok(); }));
    mounts_.push_back(path("mounted"));
    const std::string swap = add(world_.refused, {"mkswap"});
    if (test::run({"swapon", "-p", "0", swap}).ok()) {
      swap_ = swap;
    } else {
      world_.with_destroy.push_back(world_.refused.back());
      world_.refused.pop_back();
    }
    world_.refused.push_back(device(64 * MiB, {"-r"}));
    const std::string held = add(world_.refused);
    EXPECT_TRUE(patiently([&] { return (holder_ = open(held.c_str(), O_RDONLY | O_EXCL | O_CLOEXEC)) >= 0; }));
    // The same devices under other names.
    for (auto* names : {&world_.usable, &world_.with_destroy, &world_.refused}) {
      const std::string link = path("link" + std::to_string(links_++)), alias = path("alias" + std::to_string(links_));
      struct stat info {};
      test::fs::create_symlink(names->front(), link);
      EXPECT_EQ(stat(names->front().c_str(), &info), 0);
      EXPECT_EQ(mknod(alias.c_str(), S_IFBLK | 0600, info.st_rdev), 0);
      names->insert(names->end(), {link, alias});
    }
  }

  void make_names() {
    image("image", 64 * MiB);
    EXPECT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
    test::fs::create_symlink(path("loop2"), path("loop1"));
    test::fs::create_symlink(path("loop1"), path("loop2"));
    test::fs::create_symlink(path("nowhere"), path("dangling"));
    test::fs::create_symlink(path("empty"), path("to_empty"));
    world_.no_devices = {path("image"),     path("fifo"),         folder_,          "/dev/null",
                         "/dev/nope",       path("loop1"),        path("dangling"), "",
                         "image",           "/dev/zero",          "/dev",           "/",
                         "/proc/self/fd/0", path("image") + "/x", "/dev/null\n",    std::string(5000, '/')};
    world_.mount_points = {path("empty"),
                           path("empty"),
                           path("missing"),
                           path("missing"),
                           path("full"),
                           path("mounted"),
                           path("image"),
                           path("fifo"),
                           path("to_empty"),
                           path("dangling"),
                           path("loop1"),
                           "",
                           "/",
                           "/proc",
                           ".",
                           "missing",
                           path("no/such"),
                           std::string(4096, 'm'),
                           path(std::string(300, 'm')),
                           "-"};
    world_.result_folders = {
        path("results"), path("cwd"),   path("image"),    path("fifo"),          "", "results", "/dev/null",
        "/proc",         path("loop1"), "no/such/folder", std::string(5000, 'r')};
    for (const char* name : {"none", "garbage", "wrong"})
      world_.state_folders.push_back(path(std::string("state_") + name));
    world_.state_folders.push_back(path("image"));
    world_.state_folders.push_back(path("loop1"));
  }

  void make_result_files() {
    ASSERT_EQ(mongo_run("ext4", "ram:64MiB", {"--profile", "smoke"}).exit_status, 0);
    const std::string good = slurp(results() + "/log.jsonl");
    const auto write = [&](const std::string& name, const std::string& text) {
      std::ofstream(path("cwd/" + name), std::ios::binary) << text;
      world_.result_files.push_back(path("cwd/" + name));
    };
    write("good.jsonl", good);
    write("cut.jsonl", good + good.substr(0, good.size() / 2));
    write("half.jsonl", good.substr(0, good.size() / 2));
    write("empty.jsonl", "");
    write("text.jsonl", "Create : 0.510 sec.\n");
    write("binary.jsonl", std::string("\0\xff\xfe\0\n", 5));
    write("deep.jsonl", std::string(100'000, '['));
    write("nan.jsonl", "{\"schema\": NaN}\n{}\n[]\nnull\n");
    write("twice.jsonl", good + good);
    for (const char* name : {"/dev/null", "", "/", "good.jsonl", "/proc/self/mem"}) world_.result_files.push_back(name);
    world_.result_files.push_back(path("loop1"));
  }

  /// What cleanup finds; anew before each list, since it may remove the journals, and nothing else.
  void make_states() {
    for (const char* name : {"garbage", "wrong"}) test::fs::create_directories(path(std::string("state_") + name));
    std::ofstream(path("state_garbage/x.journal")) << "\xff\xfe not a journal\n{\"mongo_journal\": [[[\n";
    std::ofstream(path("state_garbage/y.journal.new"));
    std::ofstream wrong(path("state_wrong/z.journal"));
    wrong
        << R"({"mongo_journal":1,"run_id":"z","pid":1,"boot_id":"b","mount_namespace":"","program":"","command_line":""})"
        << '\n'
        << R"({"step":"directory","path":")" << path("wrong") << R"(","node":"","device":1,"inode":1})" << '\n'
        << R"({"step":"directory","path":")" << path("wrong") << R"(","node":"","device":-1,"inode":"x"})" << '\n'
        << R"({"step":"mount","path":")" << path("mounted") << R"(","node":"/dev/null","device":1,"inode":0})" << '\n'
        << R"({"step":"loop","path":"","node":")" << world_.usable[0] << R"(","device":1,"inode":1})" << '\n';
  }

  std::string check(const std::vector<std::string>& arguments, const std::string& state, Captured& captured,
                    InterruptWatch& watch);
  std::string check_plan(const std::vector<std::string>& arguments, const std::string& plan, bool accepted) const;

  std::vector<std::string> files_of_folder() const {
    std::vector<std::string> all;
    for (test::fs::recursive_directory_iterator file(folder_), end; file != end; ++file) {
      const std::string name = file->path().string();
      if (name.find("/state_") != std::string::npos) continue;
      struct stat info {};
      lstat(name.c_str(), &info);
      const bool image = name.ends_with(".img");
      all.push_back(name + " " + std::to_string(info.st_mode) + (image ? "" : " " + std::to_string(info.st_size)));
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  test::HostileWorld world_;
  std::atomic<unsigned>* counts_ = nullptr;  // of each status; shared with the children
  std::string swap_;
  int holder_ = -1, links_ = 0;
};

std::size_t open_descriptors() {
  std::size_t count = 0;
  for (test::fs::directory_iterator file("/proc/self/fd"), end; file != end; ++file) ++count;
  return count;
}

bool contains(const std::vector<std::string>& all, const std::string& word) {
  return std::find(all.begin(), all.end(), word) != all.end();
}

std::string FuzzCases::check_plan(const std::vector<std::string>& arguments, const std::string& plan,
                                  bool accepted) const {
  const std::vector<std::string> devices = world_.devices();
  const bool loop = std::any_of(arguments.begin(), arguments.end(), [](const std::string& word) {
    return word.starts_with("loop:") || word.starts_with("ram:");
  });
  std::string given;
  std::size_t commands = 0;
  std::istringstream lines(plan);
  for (std::string text; std::getline(lines, text);) {
    const bool format = text.starts_with("  mk") || text.starts_with("  zpool create ");
    const bool mounts = text.starts_with("  mount ");
    if (!format && !mounts) continue;
    std::vector<std::string> words = test::words_of(text);
    const std::string line = shown(text);
    if (words.size() < 3) return "a command that is none: " + line;
    ++commands;
    const std::string name = words.at(words.size() - (format ? 1 : 2));
    if (given.empty()) given = name;
    if (name != given) return "two devices in one plan: " + line;
    const bool asked_for = std::any_of(arguments.begin(), arguments.end(),
                                       [&](const std::string& argument) { return test::in_print(argument) == name; });
    if (!(name == "/dev/loopN" && loop) && !asked_for) return "a device not given: " + line;
    if (accepted && contains(world_.refused, name)) return "a device that must be refused: " + line;
    if (accepted && contains(world_.with_destroy, name) && !contains(arguments, "--destroy"))
      return "accepted without --destroy: " + line;
    words.resize(words.size() - (format ? 1 : 2));
    for (const std::string& word : words) {
      for (const std::string& other : devices) {
        if (word.find(other.substr(1)) != std::string::npos) return "a further device: " + line;
      }
      for (const char* tag : {"LABEL=", "UUID=", "ID="}) {
        if (word != "uuid=UUID" && word.find(tag) != std::string::npos) return "a device by its tag: " + line;
      }
    }
  }
  return accepted && commands == 0 ? "no command in a plan that was accepted" : "";
}

std::string FuzzCases::check(const std::vector<std::string>& arguments, const std::string& state, Captured& captured,
                             InterruptWatch& watch) {
  setenv("MONGO_STATE", state.c_str(), 1);
  if (contains(arguments, "cleanup")) make_states();
  std::vector<std::string> words{"mongo"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  captured.clear();
  int status = -1;
  const std::size_t descriptors = open_descriptors();
  const clock_t start = std::clock();  // of the processor: the machine may be busy
  try {
    Console console(watch);
    CommandContext context{console, watch};
    try {
      status = run_command_line(static_cast<int>(argv.size()) - 1, argv.data(), context);
    } catch (const Error& error) {  // as main() does
      console.error(error.what());
      status = static_cast<int>(error.status());
    }
  } catch (const std::exception& error) {
    return std::string("unexpected: ") + error.what();
  }
  const clock_t lasted = std::clock() - start;
  const std::string out = captured.text(STDOUT_FILENO), err = captured.text(STDERR_FILENO);

  if (status >= 0 && status <= 4) ++counts_[status];
  if (status < 0 || status > 4) return "status " + std::to_string(status);
  if (lasted > 5 * CLOCKS_PER_SEC) return "took more than 5 s";
  if (open_descriptors() != descriptors) return "left a descriptor open";
  if (status != 0 && (!err.starts_with("mongo: ") || err.size() < 25 || err.find(' ', 10) == std::string::npos))
    return "status " + std::to_string(status) + " without a reason: " + shown(err);
  if (err.find("unexpected") != std::string::npos) return "unexpected: " + shown(err);
  for (const std::string* text : {&out, &err}) {
    for (const char c : *text) {
      if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f)
        return "a control character is printed: " + shown(*text);
    }
  }
  const bool told = out.find("Usage:") != std::string::npos || out.starts_with("mongo ");  // --help, --version
  if (!contains(arguments, "--dry-run") || told || out.empty()) return "";
  const std::string wrong = check_plan(arguments, out, status == 0);
  return wrong.empty() ? "" : wrong + "\nin\n" + shown(out);
}

TEST_F(FuzzCases, TenThousandLists) {
  std::map<std::string, std::string> before;
  const auto look = [&](const std::string& node) {
    const std::string bytes = fingerprint(node);
    return node == swap_ ? bytes.substr(0, 4096) : bytes;  // the kernel may write to the rest
  };
  for (const std::string& node : world_.devices()) before[node] = look(node);
  const std::vector<std::string> files = files_of_folder();

  void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  counts_ = static_cast<std::atomic<unsigned>*>(memory);
  std::unique_ptr<Captured> captured;
  std::unique_ptr<InterruptWatch> watch;
  const auto prepare = [&] {
    captured = std::make_unique<Captured>();
    watch = std::make_unique<InterruptWatch>();
    if (chdir(path("cwd").c_str()) != 0) _exit(5);
  };
  const auto list = [&](std::uint32_t index) {
    if (index >= lists) return HostileList{kept[index - lists], path("state_none")};
    return test::HostileLists(world_, seed).list(index);
  };
  test::WatchedBatch batch(
      prepare,
      [&](std::uint32_t index) {
        const HostileList all = list(index);
        return check(all.arguments, all.state, *captured, *watch);
      },
      std::chrono::seconds(20));
  std::vector<std::uint32_t> indices;
  for (std::uint32_t i = 0; i < kept.size(); ++i) indices.push_back(lists + i);
  for (std::uint32_t i = 0; i < lists; ++i) indices.push_back(i);
  for (const test::PieceProblem& problem : batch.run(indices)) {
    ADD_FAILURE() << "seed " << seed << ", list " << problem.index << ": " << problem.text << "\n"
                  << shown(list(problem.index).arguments);
  }

  // Lists that all fail at the first argument would prove nothing.
  const unsigned least[] = {500, 50, 1000, 500, 50};
  for (int status = 0; status <= 4; ++status) {
    EXPECT_GE(counts_[status], least[status]) << "lists that end with status " << status;
    printf("status %d: %u lists\n", status, counts_[status].load());
  }
  munmap(memory, 4096);

  for (const std::string& node : world_.devices()) EXPECT_TRUE(look(node) == before[node]) << node << " was written to";
  EXPECT_EQ(files_of_folder(), files);
  EXPECT_FALSE(test::fs::exists(path("owned"))) << "something was given to a shell";
  // Each of the folder's images is attached once, as this test did.
  const std::string attached = test::run({"losetup", "-l", "-n", "-O", "BACK-FILE"}).out;
  std::size_t count = 0;
  for (std::size_t at = 0; (at = attached.find(folder_, at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, devices_.size()) << attached;
  for (const std::string& node : world_.devices()) {
    struct stat info {};
    ASSERT_EQ(stat(node.c_str(), &info), 0);
    const std::string lock =
        "/run/lock/mongo/" + std::to_string(major(info.st_rdev)) + "-" + std::to_string(minor(info.st_rdev));
    EXPECT_FALSE(test::fs::exists(lock));
  }
  const std::string mounts = slurp("/proc/self/mountinfo");
  EXPECT_EQ(mounts.find(folder_), mounts.rfind(folder_)) << "only this test's own mount: " << mounts;
}

}  // namespace
}  // namespace mongo
