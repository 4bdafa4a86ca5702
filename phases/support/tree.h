#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "phases/phase.h"
#include "phases/support/random.h"

namespace mongo::phases {

/// The heavy-tailed distribution from which file sizes, directory sizes and branching are drawn: half of the draws lie
/// below the median, few are very large.
class Distribution {
 public:
  /// Throws std::invalid_argument, naming the two parameters, when no tree can be drawn from these numbers.
  Distribution(const char* median_name, std::uint64_t median, const char* max_name, std::uint64_t max);

  std::uint64_t draw(RandomSequence& random) const { return value(random.next() % modulus_); }

  /// The largest number that can be drawn. It may be far above max, which is the tail's scale and no bound.
  std::uint64_t largest() const { return value(modulus_ - 1); }

  /// The average of many draws, within a few percent; the rounding down of each draw is not taken into account.
  double mean() const;

 private:
  // The order of the floating-point operations is part of the definition: sizes must not differ by one anywhere.
  std::uint64_t value(std::uint32_t k) const {
    const double x = static_cast<double>(k) / scale_;
    return static_cast<std::uint64_t>(m_ * (1 / (1 - x / ratio_) - 1));
  }

  double m_;
  double ratio_;
  double scale_;
  std::uint32_t modulus_;
};

/// How many files and directories a tree has: all that is needed to lay it out.
struct TreeOutline {
  std::uint64_t files = 0;
  std::uint64_t directories = 0;  // below the tree's own directory, which is not counted
};

/// What a tree will consist of.
struct TreePlan : TreeOutline {
  std::uint64_t total_bytes = 0;  // of file data; near bytes_to_consume, on either side of it
};

/// Draws the number of files and that of directories, in constant memory and some 10 ns a file. Throws
/// std::invalid_argument when the parameters allow no tree or one beyond all use (2^31 files); the message names the
/// parameter, its value and what is allowed.
TreeOutline outline_tree(const TreeParameters& parameters);

/// Goes through the whole tree without making it. Throws what outline_tree throws.
TreePlan plan_tree(const TreeParameters& parameters);

/// Gives the tree as a stream of events, depth first, in the order in which it is to be made. Memory grows neither with
/// the number of files nor with the depth times the width: the sizes of directories are drawn a second time beside the
/// first sequence instead of being stored, and the not yet visited directories of the open levels are counts only.
class TreeGenerator {
 public:
  TreeGenerator(const TreeParameters& parameters, const TreeOutline& outline);

  /// Visitor:
  ///   void file(std::uint64_t number, std::uint64_t size);  // in the current directory; numbers from 1 in the tree
  ///   void enter_directory(std::uint64_t number);           // make dNUMBER, numbers from 0, and go there
  ///   void leave_directory();                               // back to the parent
  /// The tree's own directory is neither entered nor left. Call once.
  template <class Visitor>
  void run(Visitor& visitor) {
    fill_directory(directories_, visitor);
    while (!levels_.empty()) {
      if (slots_.size() > levels_.back()) {
        const std::uint32_t count = slots_.back();
        slots_.pop_back();
        visitor.enter_directory(next_directory_++);
        fill_directory(count, visitor);
      } else {
        levels_.pop_back();
        if (!levels_.empty()) {
          visitor.leave_directory();
        }
      }
    }
  }

 private:
  /// The files of a directory below which `count` directories, itself included, are to be laid out.
  template <class Visitor>
  void fill_directory(std::uint32_t count, Visitor& visitor) {
    for (std::uint64_t left = next_directory_size(); left > 0; --left) {
      visitor.file(++last_file_, file_sizes_.draw(layout_));
    }
    const std::uint64_t branching = this->branching_.draw(layout_) + 1;
    levels_.push_back(slots_.size());
    assign_slots(branching, count - 1);
  }

  std::uint64_t next_directory_size();
  void assign_slots(std::uint64_t branching, std::uint32_t directories);

  Distribution file_sizes_;
  Distribution directory_sizes_;
  Distribution branching_;
  RandomSequence layout_;  // file sizes, branching and slots
  RandomSequence sizes_;   // directory sizes: the list of them is used up strictly from its front
  std::uint64_t files_left_;
  std::uint32_t directories_;
  std::uint64_t last_file_ = 0;
  std::uint64_t next_directory_ = 0;
  std::vector<std::size_t> levels_;    // for each open directory, where its slots begin in slots_
  std::vector<std::uint32_t> slots_;   // non-empty slots still to visit, the next one last
  std::vector<std::uint32_t> counts_;  // scratch of assign_slots
};

/// Gives the tree of these parameters. Throws what outline_tree throws, before the first event.
template <class Visitor>
void generate_tree(const TreeParameters& parameters, Visitor& visitor) {
  TreeGenerator(parameters, outline_tree(parameters)).run(visitor);
}

}  // namespace mongo::phases
