#include <numeric>
#include <utility>

#include "harness/plan/matrix.h"

namespace mongo {
namespace {

/// The library's shuffle and distributions may differ from one implementation to the next.
/// Source: Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  /// From 0 to bound - 1, each as likely as the others.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t too_few = -bound % bound;  // 2^64 mod bound
    while (true) {
      const std::uint64_t number = next();
      if (number >= too_few) return number % bound;
    }
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace

std::vector<std::size_t> order_of(const Matrix& matrix, MatrixOrder order, std::uint64_t seed) {
  std::vector<std::size_t> indices(matrix.cells.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  if (order == MatrixOrder::listed) return indices;
  SplitMix64 random(seed);
  std::vector<std::size_t> shuffled;
  for (int repeat = 1; repeat <= matrix.repeats; ++repeat) {
    const std::size_t begin = shuffled.size();
    for (const std::size_t index : indices) {
      if (matrix.cells[index].repeat == repeat) shuffled.push_back(index);
    }
    for (std::size_t left = shuffled.size() - begin; left > 1; --left) {
      std::swap(shuffled[begin + left - 1], shuffled[begin + random.below(left)]);
    }
  }
  return shuffled;
}

}  // namespace mongo
