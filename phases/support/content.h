#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mongo::phases {

enum class ContentKind : std::uint8_t {
  random,        // seeded data that neither compresses nor repeats
  letter_a,      // the original's: every byte is 'a'
  zero,          // every byte is 0
  compressible,  // random, but a share of each block of 4096 bytes is zero
};

struct ContentSpec {
  ContentKind kind = ContentKind::random;
  unsigned compressible_percent = 0;  // 1 to 99 with ContentKind::compressible, else 0
  friend bool operator==(const ContentSpec&, const ContentSpec&) = default;
};

/// "random", "letter-a", "zero" or "compressible:PCT" with PCT from 1 to 99 in digits without a leading zero; nothing
/// for any other text.
std::optional<ContentSpec> parse_content(const std::string& text);

/// The word that parse_content takes.
std::string content_name(const ContentSpec& spec);

/// The bytes that the files of one worker are filled with, made beforehand so that handing them out costs some
/// nanoseconds a piece.
///
/// With ContentKind::random, each byte is a pure function of (seed, repetition, process, file number, offset in the
/// file); the size of the pieces has no influence. The bytes are a window on 1 MiB of random data that begins at a
/// place of the file's own, and at every multiple of 4096 in the file eight bytes are changed to a hash that no other
/// block has, so that no block repeats in the file system. Files larger than 1 MiB do go through the same data again,
/// which a compressor would have to look back 1 MiB to notice.
///
/// ContentKind::compressible is the same, but the last compressible_percent of each block of the file are zero bytes,
/// and the window begins at one of 256 places only, so that the blocks of the data are those of the file. A file that
/// ends before the zeros of its first block begin has none.
class Content {
 public:
  static constexpr std::size_t smallest_write_buffer = 2;
  static constexpr std::size_t largest_write_buffer = 16 << 20;
  static constexpr std::size_t period = 1 << 20;
  static constexpr std::size_t block = 4096;

  /// Allocates and fills the buffer: period + write_buffer_size bytes, all touched. Call before the time runs.
  /// Pieces can have up to write_buffer_size - 1 bytes. Throws std::invalid_argument when write_buffer_size is out of
  /// bounds or compressible_percent is.
  Content(const ContentSpec& spec, std::uint64_t seed, int repetition, int process, std::size_t write_buffer_size);
  Content(ContentKind kind, std::uint64_t seed, int repetition, int process, std::size_t write_buffer_size)
      : Content(ContentSpec{kind, 0}, seed, repetition, process, write_buffer_size) {}

  std::size_t largest_piece() const { return largest_piece_; }

  /// The next piece is the first of the file of this number.
  void begin_file(std::uint64_t number) {
    if (!constant_) {
      change_stamps();
      stamped_ = {};
      file_key_ = mix(worker_key_ + number);
      start_ = mix(file_key_ ^ start_salt) % period & start_mask_;
      offset_ = 0;
    }
  }

  /// The next `length` bytes of the file, at most largest_piece(). Valid until the next call.
  const char* piece(std::size_t length) {
    if (constant_) {
      return buffer_.data();
    }
    change_stamps();
    char* const bytes = buffer_.data() + front + (start_ + offset_) % period;
    // The blocks whose stamp has a byte in this piece. A stamp may stick out of the piece at both ends: hence the
    // margins of the buffer.
    stamped_.bytes = bytes;
    stamped_.offset = offset_;
    stamped_.first = (offset_ + block - stamp_size) / block;
    stamped_.last = (offset_ + length + block - 1) / block;
    change_stamps();
    offset_ += length;
    return bytes;
  }

 private:
  static constexpr std::size_t stamp_size = sizeof(std::uint64_t);
  static constexpr std::size_t front = stamp_size;
  static constexpr std::uint64_t start_salt = 0x5bf03635aca33d21;

  /// A bijection of 64-bit numbers without visible pattern (the output function of SplitMix64, by Steele, Lea and
  /// Flood).
  static std::uint64_t mix(std::uint64_t z) {
    z += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  /// Puts the stamps of the current piece into the buffer, or, called a second time, takes them out again: they are
  /// exclusive-ored onto the data, so that nothing need be saved.
  void change_stamps() {
    for (std::uint64_t i = stamped_.first; i < stamped_.last; ++i) {
      char* const at = stamped_.bytes + static_cast<std::int64_t>(i * block - stamped_.offset);
      std::uint64_t word;
      __builtin_memcpy(&word, at, sizeof word);
      word ^= mix(file_key_ + i);
      __builtin_memcpy(at, &word, sizeof word);
    }
  }

  struct Stamped {
    char* bytes = nullptr;     // the piece
    std::uint64_t offset = 0;  // of the piece in the file
    std::uint64_t first = 0;   // block
    std::uint64_t last = 0;    // block, exclusive
  };

  bool constant_;  // all bytes are the same
  std::uint64_t start_mask_;
  std::size_t largest_piece_;
  std::uint64_t worker_key_ = 0;
  std::uint64_t file_key_ = 0;
  std::uint64_t start_ = 0;
  std::uint64_t offset_ = 0;
  Stamped stamped_;
  std::vector<char> buffer_;
};

}  // namespace mongo::phases
