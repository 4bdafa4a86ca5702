#include "phases/support/content.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

namespace mongo::phases {

Content::Content(ContentKind kind, std::uint64_t seed, int repetition, int process, std::size_t write_buffer_size)
    : kind_(kind), largest_piece_(write_buffer_size - 1) {
  if (write_buffer_size < smallest_write_buffer || write_buffer_size > largest_write_buffer) {
    throw std::invalid_argument("write_buffer_size = " + std::to_string(write_buffer_size) + ": between " +
                                std::to_string(smallest_write_buffer) + " and " + std::to_string(largest_write_buffer) +
                                " bytes are allowed");
  }
  if (kind == ContentKind::letter_a) {
    buffer_.assign(largest_piece_, 'a');
    return;
  }
  worker_key_ = mix(mix(mix(seed) + static_cast<std::uint64_t>(repetition)) + static_cast<std::uint64_t>(process));

  // One period, then its beginning again, so that a piece is contiguous wherever it starts.
  buffer_.resize(front + period + largest_piece_ + stamp_size);
  char* const data = buffer_.data() + front;
  for (std::size_t at = 0; at < period; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = mix(~worker_key_ + at);
    std::memcpy(data + at, &word, sizeof word);
  }
  const std::size_t end = buffer_.size() - front;
  for (std::size_t at = period; at < end; at += period) {
    std::memcpy(data + at, data, std::min(period, end - at));
  }
}

}  // namespace mongo::phases
