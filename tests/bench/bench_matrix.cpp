// How long planning takes and how much memory it needs: a matrix of 10,000 cells, and one that is refused.
//
//   bench_matrix
//
// Prints for each the time of the reading in seconds and what the peak of the resident memory grew by, in KiB.

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "harness/core/errors.h"
#include "harness/plan/matrix.h"

namespace {

long peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

std::string axis(const std::string& key, int values, int first = 1) {
  std::string text = "  " + key + ": [";
  for (int i = 0; i < values; ++i) text += (i == 0 ? "" : ", ") + std::to_string(first + i);
  return text + "]\n";
}

void measure(const char* what, const std::string& text) {
  const long before = peak_kib();
  const auto start = std::chrono::steady_clock::now();
  std::string result;
  try {
    result = std::to_string(mongo::parse_matrix(text, "bench.yaml").cells.size()) + " cells";
  } catch (const mongo::UsageError& error) {
    result = std::string("refused: ") + error.what();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%-32s %8.3f s %8ld KiB  %.100s\n", what, seconds.count(), peak_kib() - before, result.c_str());
}

}  // namespace

int main() {
  const std::string head = "device: loop:2GiB\ndefaults: {filesystem: ext4, cache: read=drop}\nmatrix:\n";
  std::string many = head;
  for (const char* key : {"processes", "repetitions", "phase_timeout", "max_dir_files", "median_dir_files",
                          "bytes_per_tree", "max_dir_branching"}) {
    many += axis(key, 20);
  }
  measure("7 axes of 20 values", many);
  measure("repeats: 1000000", head + axis("processes", 20) + "repeats: 1000000\n");
  measure("4 axes of 10 values", head + axis("processes", 10) + axis("repetitions", 10) + axis("phase_timeout", 10) +
                                     axis("max_dir_files", 10));
  measure("2 cells, 5000 times", head + axis("processes", 2) + "repeats: 5000\n");
  std::string entries = "exclude:\n";
  for (int i = 0; i < 9999; ++i) entries += "- {processes: 99" + std::to_string(i % 10) + "}\n";
  entries += "include:\n";
  for (int i = 0; i < 9999; ++i) entries += "- {processes: 1, sync: none}\n";
  measure("10000 cells, 9999 entries each", head + axis("processes", 100) + axis("repetitions", 100) + entries);
  std::string flow = "device: loop:2GiB\nmatrix: {filesystem: ext4, mkfs_options: [";
  for (int i = 0; i < 10000; ++i)
    flow += (i == 0 ? "" : ", ") + ("'-N " + std::to_string(1000 + i)) + std::string(80, ' ') + "'";
  measure("10000 values in one line", flow + "]}\n");
  return 0;
}
