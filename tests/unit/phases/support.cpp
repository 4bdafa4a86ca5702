#include "support.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <sstream>
#include <stdexcept>

#include "phases/catalogue.h"

namespace mongo::phases::testing {

Scratch::Scratch() {
  const char* base = std::getenv("TMPDIR");
  std::string name = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/mongo-phases-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("mkdtemp " + name + ": " + std::strerror(errno));
  }
  path_ = std::filesystem::canonical(name);
  fd_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

Scratch::~Scratch() {
  close(fd_);
  output_of("rm -rf -- '" + path_ + "'");  // rm copes with paths of any depth
}

Outcome run_in_child(const std::function<void(Counters&)>& work) {
  void* const memory = mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::runtime_error("mmap");
  }
  auto* const counters = new (memory) Counters;
  const pid_t child = fork();
  if (child == 0) {
    try {
      work(*counters);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(99);
    }
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  Outcome outcome;
  outcome.files = counters->files;
  outcome.bytes = counters->bytes;
  for (std::uint32_t i = 0; i < counters->error_kinds; ++i) {
    const ErrorCount& error = counters->errors[i];
    outcome.failures.push_back({operation_name(error.operation), error.error_number, error.count, error.first_path});
  }
  munmap(memory, sizeof(Counters));
  if (status != 0) {
    throw std::runtime_error("the child ended with status " + std::to_string(status));
  }
  return outcome;
}

namespace {

Outcome run_function(void (*function)(Context&), const Scratch& scratch, const Settings& settings) {
  return run_in_child([&](Counters& counters) {
    Content content(settings.content, 42, settings.repetition, settings.process, settings.write_buffer_size);
    Context context;
    context.mount_fd = scratch.fd();
    context.mount_path = scratch.path();
    context.repetition = settings.repetition;
    context.process = settings.process;
    context.tree = settings.tree;
    context.write_buffer_size = settings.write_buffer_size;
    context.sync_each = settings.sync_each;
    context.content = &content;
    context.counters = &counters;
    if (settings.prepare) {
      settings.prepare();
    }
    function(context);
  });
}

}  // namespace

Outcome run_phase(const char* name, const Scratch& scratch, const Settings& settings) {
  return run_function(find(name)->run, scratch, settings);
}

Outcome verify_phase(const char* name, const Scratch& scratch, const Settings& settings) {
  return run_function(find(name)->verify, scratch, settings);
}

void break_system_call(long number) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    throw std::runtime_error(std::string("seccomp: ") + std::strerror(errno));
  }
}

std::map<std::string, std::string> listing(const std::string& directory) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
    std::string kind = "dir";
    if (entry.is_symlink()) {
      kind = "link " + fs::read_symlink(entry.path()).string();
    } else if (!entry.is_directory()) {
      kind = "file " + std::to_string(entry.file_size());
    }
    found[entry.path().string().substr(directory.size() + 1)] = kind;
  }
  return found;
}

std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void make_file(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::string output_of(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) {
    throw std::runtime_error("popen " + command);
  }
  std::string output;
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    output.append(buffer, n);
  }
  pclose(pipe);
  return output;
}

std::string text(const Outcome& outcome) {
  std::ostringstream out;
  out << outcome.files << " files, " << outcome.bytes << " bytes";
  for (const Failure& failure : outcome.failures) {
    const bool difference = failure.error_number == 0;
    out << "; " << failure.operation << " " << (difference ? "-" : strerrorname_np(failure.error_number)) << " x"
        << failure.count << " " << failure.first_path;
  }
  return out.str();
}

TreeParameters branchy() {
  return {.bytes_to_consume = 5000000,
          .median_file_size = 500,
          .max_file_size = 50000,
          .median_dir_files = 10,
          .max_dir_files = 200,
          .median_dir_branching = 3,
          .max_dir_branching = 20};
}

TreeParameters chain(std::uint64_t files) {
  // With so small a tail only 0 can be drawn, which makes one file a directory and one slot.
  return {.bytes_to_consume = files * 100,
          .median_file_size = 10,
          .max_file_size = 1,
          .median_dir_files = 1000000,
          .max_dir_files = 1,
          .median_dir_branching = 1000000,
          .max_dir_branching = 1};
}

}  // namespace mongo::phases::testing
