#include "phases/support/content.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

namespace mongo::phases {

std::optional<ContentSpec> parse_content(const std::string& text) {
  for (const ContentKind kind : {ContentKind::random, ContentKind::letter_a, ContentKind::zero}) {
    if (text == content_name({kind, 0})) {
      return ContentSpec{kind, 0};
    }
  }
  for (unsigned percent = 1; percent <= 99; ++percent) {
    const ContentSpec spec{ContentKind::compressible, percent};
    if (text == content_name(spec)) {
      return spec;
    }
  }
  return std::nullopt;
}

std::string content_name(const ContentSpec& spec) {
  switch (spec.kind) {
    case ContentKind::random:
      return "random";
    case ContentKind::letter_a:
      return "letter-a";
    case ContentKind::zero:
      return "zero";
    case ContentKind::compressible:
      return "compressible:" + std::to_string(spec.compressible_percent);
  }
  return "unknown";
}

Content::Content(const ContentSpec& spec, std::uint64_t seed, int repetition, int process,
                 std::size_t write_buffer_size)
    : constant_(spec.kind == ContentKind::letter_a || spec.kind == ContentKind::zero),
      start_mask_(spec.kind == ContentKind::compressible ? ~std::uint64_t{block - 1} : ~std::uint64_t{0}),
      largest_piece_(write_buffer_size - 1) {
  if (write_buffer_size < smallest_write_buffer || write_buffer_size > largest_write_buffer) {
    throw std::invalid_argument("write_buffer_size = " + std::to_string(write_buffer_size) + ": between " +
                                std::to_string(smallest_write_buffer) + " and " + std::to_string(largest_write_buffer) +
                                " bytes are allowed");
  }
  const bool compressible = spec.kind == ContentKind::compressible;
  if (compressible && (spec.compressible_percent < 1 || spec.compressible_percent > 99)) {
    throw std::invalid_argument("compressible_percent = " + std::to_string(spec.compressible_percent) +
                                ": between 1 and 99 is allowed");
  }
  if (constant_) {
    buffer_.assign(largest_piece_, spec.kind == ContentKind::zero ? '\0' : 'a');
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
  if (compressible) {
    // At most 99 %: the stamp at the front of a block stays among random bytes.
    const std::size_t zeros = block * spec.compressible_percent / 100;
    for (std::size_t at = block; at <= period; at += block) {
      std::memset(data + at - zeros, 0, zeros);
    }
  }
  const std::size_t end = buffer_.size() - front;
  for (std::size_t at = period; at < end; at += period) {
    std::memcpy(data + at, data, std::min(period, end - at));
  }
}

}  // namespace mongo::phases
