#include "phases/support/tree.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>

namespace mongo::phases {

static_assert(FLT_EVAL_METHOD == 0, "sizes are defined by plain double arithmetic");

namespace {

constexpr double fine_scale = 1 << 20;
constexpr double fine_scale_below_ratio = 1024;
constexpr double largest_modulus = std::numeric_limits<std::int32_t>::max();
constexpr double largest_value = 0x1p62;  // leaves room for sums and for file offsets
constexpr std::uint64_t most_files = std::uint64_t{1} << 31;

// When every directory holds exactly one other, as many random numbers as the square of their number are drawn.
constexpr std::uint64_t most_directories_in_a_chain = 50000;

std::string setting(const char* name, std::uint64_t value) { return std::string(name) + " = " + std::to_string(value); }

std::string whole(double value) { return std::to_string(static_cast<std::uint64_t>(value)); }

Distribution file_size_distribution(const TreeParameters& p) {
  return {"median_file_size", p.median_file_size, "max_file_size", p.max_file_size};
}

Distribution directory_size_distribution(const TreeParameters& p) {
  return {"median_dir_files", p.median_dir_files, "max_dir_files", p.max_dir_files};
}

Distribution branching_distribution(const TreeParameters& p) {
  return {"median_dir_branching", p.median_dir_branching, "max_dir_branching", p.max_dir_branching};
}

std::uint64_t directory_size(const Distribution& distribution, RandomSequence& random, std::uint64_t files_left) {
  return std::min(std::max<std::uint64_t>(distribution.draw(random), 1), files_left);
}

[[noreturn]] void too_many_files(const TreeParameters& p) {
  throw std::invalid_argument(setting("bytes_to_consume", p.bytes_to_consume) + " with " +
                              setting("median_file_size", p.median_file_size) + " and " +
                              setting("max_file_size", p.max_file_size) + ": more than " + std::to_string(most_files) +
                              " files would be needed, and no more than that are allowed; consume fewer bytes or make "
                              "the files larger");
}

}  // namespace

Distribution::Distribution(const char* median_name, std::uint64_t median, const char* max_name, std::uint64_t max) {
  m_ = static_cast<double>(median) + 1;
  ratio_ = static_cast<double>(max) / m_;
  scale_ = ratio_ < fine_scale_below_ratio ? fine_scale : 1;
  const double modulus = std::trunc(scale_ * ratio_);
  const std::string both = setting(max_name, max) + " with " + setting(median_name, median) + ": ";
  if (modulus < 1) {
    throw std::invalid_argument(both + max_name + " is too small for this median; at least " +
                                whole(std::ceil(m_ / fine_scale)) + " is needed");
  }
  if (modulus > largest_modulus) {
    throw std::invalid_argument(both + max_name + " must be less than 2147483648 times (" + median_name +
                                " + 1), which is " + whole(std::min(m_ * (largest_modulus + 1), 0x1p63)));
  }
  modulus_ = static_cast<std::uint32_t>(modulus);
  // Computed without value(), whose conversion to an integer is only defined once this has been checked.
  if (m_ * (1 / (1 - (modulus - 1) / scale_ / ratio_) - 1) > largest_value) {
    throw std::invalid_argument(both + "values up to 2^62 and more could be drawn; " +
                                (scale_ > 1 ? max_name : median_name) + " must be smaller");
  }
}

double Distribution::mean() const {
  const double n = modulus_;
  const double harmonic = std::log(n) + 0.5772156649 + 1 / (2 * n);
  return m_ * std::max(harmonic - 1, 0.0);
}

TreeOutline outline_tree(const TreeParameters& p) {
  const Distribution file_sizes = file_size_distribution(p);
  const Distribution directory_sizes = directory_size_distribution(p);
  const Distribution branching = branching_distribution(p);
  if (p.bytes_to_consume == 0) {
    throw std::invalid_argument("bytes_to_consume = 0: at least 1 is needed for a tree");
  }
  if (static_cast<double>(p.bytes_to_consume) > largest_value) {
    throw std::invalid_argument(setting("bytes_to_consume", p.bytes_to_consume) + ": at most " + whole(largest_value) +
                                " is allowed");
  }
  if (file_sizes.largest() == 0) {
    throw std::invalid_argument(setting("max_file_size", p.max_file_size) + " with " +
                                setting("median_file_size", p.median_file_size) +
                                ": every file would be empty, so that bytes_to_consume is never reached; a larger "
                                "max_file_size is needed");
  }
  // An estimate first: counting up to the limit takes half a minute.
  if (static_cast<double>(p.bytes_to_consume) > file_sizes.mean() * static_cast<double>(most_files)) {
    too_many_files(p);
  }

  // These sums only end the counting: laying out draws other numbers in between, and so other sizes.
  TreeOutline outline;
  RandomSequence random;
  for (std::uint64_t sum = 0; sum < p.bytes_to_consume;) {
    sum += file_sizes.draw(random);
    if (++outline.files > most_files) {
      too_many_files(p);
    }
  }

  random.restart();
  std::uint64_t directories = 0;
  for (std::uint64_t left = outline.files; left > 0; ++directories) {
    left -= directory_size(directory_sizes, random, left);
  }
  if (branching.largest() == 0 && directories > most_directories_in_a_chain) {
    throw std::invalid_argument(setting("max_dir_branching", p.max_dir_branching) + " with " +
                                setting("median_dir_branching", p.median_dir_branching) + ": each of the " +
                                std::to_string(directories) + " directories would lie in the one before; at most " +
                                std::to_string(most_directories_in_a_chain) +
                                " are allowed like that; a larger max_dir_branching or max_dir_files is needed");
  }
  outline.directories = directories - 1;
  return outline;
}

TreePlan plan_tree(const TreeParameters& parameters) {
  struct Total {
    std::uint64_t bytes = 0;
    void file(std::uint64_t, std::uint64_t size) { bytes += size; }
    void enter_directory(std::uint64_t) {}
    void leave_directory() {}
  } total;
  const TreeOutline outline = outline_tree(parameters);
  TreeGenerator(parameters, outline).run(total);
  return {outline, total.bytes};
}

TreeGenerator::TreeGenerator(const TreeParameters& parameters, const TreeOutline& outline)
    : file_sizes_(file_size_distribution(parameters)),
      directory_sizes_(directory_size_distribution(parameters)),
      branching_(branching_distribution(parameters)),
      files_left_(outline.files),
      directories_(static_cast<std::uint32_t>(outline.directories + 1)) {}

std::uint64_t TreeGenerator::next_directory_size() {
  const std::uint64_t size = directory_size(directory_sizes_, sizes_, files_left_);
  files_left_ -= size;
  return size;
}

/// Draws for each of the directories to which of the `branching` slots it belongs, and puts the counts of the non-empty
/// slots on slots_, the first slot last. Branching may be in the millions where directories are few, and the other way
/// round: the scratch memory is as large as the smaller of the two.
void TreeGenerator::assign_slots(std::uint64_t branching, std::uint32_t directories) {
  if (directories == 0) {
    return;
  }
  if (branching <= directories) {
    const auto modulus = static_cast<std::uint32_t>(branching);
    counts_.assign(modulus, 0);
    for (std::uint32_t i = 0; i < directories; ++i) {
      ++counts_[layout_.next() % modulus];
    }
    std::copy_if(counts_.rbegin(), counts_.rend(), std::back_inserter(slots_), [](std::uint32_t n) { return n > 0; });
    return;
  }
  counts_.resize(directories);
  for (std::uint32_t& slot : counts_) {
    slot = static_cast<std::uint32_t>(layout_.next() % branching);
  }
  std::sort(counts_.begin(), counts_.end(), std::greater<>());
  for (std::size_t i = 0; i < counts_.size();) {
    std::size_t end = i;
    while (end < counts_.size() && counts_[end] == counts_[i]) {
      ++end;
    }
    slots_.push_back(static_cast<std::uint32_t>(end - i));
    i = end;
  }
}

}  // namespace mongo::phases
