#pragma once

#include <cstdint>
#include <cstdlib>

namespace mongo::phases {

/// The numbers that glibc's rand() gives after srand(1): 31 bits a draw, the same on every machine.
/// Several sequences can run side by side, since random_r(3) keeps its state here and not in the C library.
class RandomSequence {
 public:
  RandomSequence() { restart(); }
  RandomSequence(const RandomSequence&) = delete;  // the state is reached through pointers into the object
  RandomSequence& operator=(const RandomSequence&) = delete;

  /// Begins again with the first number, as srand(1) does.
  void restart() {
    data_ = {};  // initstate_r reads the old state unless this is empty
    initstate_r(1, state_, sizeof state_, &data_);
  }

  /// The next number, 0 to 2^31 - 1.
  std::uint32_t next() {
    std::int32_t number = 0;
    random_r(&data_, &number);
    return static_cast<std::uint32_t>(number);
  }

 private:
  random_data data_;
  char state_[128];  // this size selects rand()'s generator, the additive feedback over 31 words
};

}  // namespace mongo::phases
