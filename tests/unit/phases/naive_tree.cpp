#include "naive_tree.h"

#include <cmath>
#include <cstdlib>
#include <vector>

namespace mongo::phases::testing {
namespace {

double scale_of(double ratio) { return ratio < 1024 ? std::pow(2, 20) : 1; }

long long draw(std::uint64_t median, std::uint64_t max) {
  const double m = static_cast<double>(median) + 1;
  const double ratio = static_cast<double>(max) / m;
  const double scale = scale_of(ratio);
  const int k = std::rand() % static_cast<int>(scale * ratio);
  const double x = k / scale;
  return static_cast<long long>(m * (1 / (1 - x / ratio) - 1));
}

class Layout {
 public:
  explicit Layout(const TreeParameters& parameters) : p(parameters) {
    std::srand(1);
    long long files = 0;
    for (long long sum = 0; sum < static_cast<long long>(p.bytes_to_consume); ++files) {
      sum += draw(p.median_file_size, p.max_file_size);
    }
    std::srand(1);
    while (files > 0) {
      long long size = draw(p.median_dir_files, p.max_dir_files);
      size = size == 0 ? 1 : size;
      size = size > files ? files : size;
      sizes.push_back(size);
      files -= size;
    }
    std::srand(1);
    subtree("", 0, sizes.size());
  }

  std::map<std::string, long long> made;

 private:
  void subtree(const std::string& path, std::size_t first, std::size_t last) {
    for (long long i = 0; i < sizes[first]; ++i) {
      made[path + std::to_string(++file_counter)] = draw(p.median_file_size, p.max_file_size);
    }
    const long long branching = draw(p.median_dir_branching, p.max_dir_branching) + 1;
    std::map<long long, std::size_t> slots;
    for (std::size_t i = first + 1; i < last; ++i) {
      ++slots[std::rand() % branching];
    }
    std::size_t next = first + 1;
    for (const auto& [slot, count] : slots) {
      const std::string name = path + "d" + std::to_string(directory_counter++);
      made[name] = -1;
      subtree(name + "/", next, next + count);
      next += count;
    }
  }

  TreeParameters p;
  std::vector<long long> sizes;
  int file_counter = 0;
  int directory_counter = 0;
};

}  // namespace

std::map<std::string, long long> naive_tree(const TreeParameters& parameters) { return Layout(parameters).made; }

double naive_modulus(std::uint64_t median, std::uint64_t max) {
  const double ratio = static_cast<double>(max) / (static_cast<double>(median) + 1);
  return std::trunc(scale_of(ratio) * ratio);
}

}  // namespace mongo::phases::testing
