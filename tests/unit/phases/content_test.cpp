#include "phases/support/content.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_set>

#include "support.h"

namespace mongo::phases {
namespace {

std::string file_of(Content& content, std::uint64_t number, std::size_t size, std::size_t piece) {
  std::string bytes;
  content.begin_file(number);
  while (bytes.size() < size) {
    const std::size_t length = std::min(piece, size - bytes.size());
    bytes.append(content.piece(length), length);
  }
  return bytes;
}

const ContentSpec all_kinds[] = {{ContentKind::random, 0},        {ContentKind::letter_a, 0},
                                 {ContentKind::zero, 0},          {ContentKind::compressible, 1},
                                 {ContentKind::compressible, 50}, {ContentKind::compressible, 99}};

TEST(Content, DoesNotDependOnThePieces) {
  for (const ContentSpec& spec : all_kinds) {
    Content classic(spec, 7, 1, 1, 4096);
    Content large(spec, 7, 1, 1, Content::largest_write_buffer);
    const std::size_t size = 3 * Content::period + 12345;
    const std::string expected = file_of(large, 5, size, large.largest_piece());
    EXPECT_TRUE(file_of(classic, 5, size, 4095) == expected) << content_name(spec);
    for (const std::size_t piece : {1u, 2u, 7u, 8u, 9u, 100u, 4094u}) {
      EXPECT_TRUE(file_of(classic, 5, 30000, piece) == expected.substr(0, 30000)) << content_name(spec) << " " << piece;
    }
  }
}

TEST(Content, IsTheSameInEveryRun) {
  for (const ContentSpec& spec : all_kinds) {
    Content one(spec, 7, 2, 3, 4096);
    Content other(spec, 7, 2, 3, 4096);
    EXPECT_TRUE(file_of(one, 9, 100000, 4095) == file_of(other, 9, 100000, 4095)) << content_name(spec);
  }
}

TEST(Content, DoesNotDependOnWhatWasWrittenBefore) {
  Content fresh(ContentKind::random, 7, 1, 1, 65536);
  Content used(ContentKind::random, 7, 1, 1, 65536);
  for (std::uint64_t number = 1; number < 200; ++number) {
    file_of(used, number, 1000 * number, 65535);
  }
  EXPECT_EQ(file_of(used, 500, 2000000, 65535), file_of(fresh, 500, 2000000, 65535));
}

TEST(Content, DiffersByFileProcessRepetitionAndSeed) {
  const auto bytes = [](std::uint64_t seed, int repetition, int process, std::uint64_t number) {
    Content content(ContentKind::random, seed, repetition, process, 4096);
    return file_of(content, number, 64, 4095);
  };
  std::set<std::string> all;
  for (const std::uint64_t seed : {0u, 1u, 2u}) {
    for (const int repetition : {1, 2, 3}) {
      for (const int process : {1, 2, 3}) {
        for (const std::uint64_t number : {1u, 2u, 3u}) {
          all.insert(bytes(seed, repetition, process, number));
        }
      }
    }
  }
  EXPECT_EQ(all.size(), 81u);
  EXPECT_EQ(bytes(1, 2, 3, 4), bytes(1, 2, 3, 4));
}

void expect_no_block_repeats(const ContentSpec& spec) {
  std::unordered_set<std::string> blocks;
  std::size_t count = 0;
  const auto take = [&](std::string_view file) {
    for (; file.size() >= Content::block; file.remove_prefix(Content::block)) {
      blocks.emplace(file.substr(0, Content::block));
      ++count;
    }
  };
  for (const int process : {1, 2}) {
    Content content(spec, 7, 1, process, 4096);
    take(file_of(content, 1, 5 * Content::period, 4095));  // within one file, beyond the period
    for (std::uint64_t number = 2; number < 2000; ++number) {
      take(file_of(content, number, 8192, 4095));
    }
  }
  EXPECT_EQ(blocks.size(), count) << content_name(spec);
}

TEST(Content, NoBlockRepeats) {
  for (const ContentSpec& spec : all_kinds) {
    if (spec.kind == ContentKind::random || spec.kind == ContentKind::compressible) {
      expect_no_block_repeats(spec);
    }
  }
}

TEST(Content, DoesNotCompress) {
  Content content(ContentKind::random, 7, 1, 1, 65536);
  const testing::Scratch scratch;
  testing::make_file(scratch / "large", file_of(content, 1, 2000000, 65535));
  EXPECT_GT(std::stoul(testing::output_of("gzip -c < " + scratch / "large" + " | wc -c")), 2000000u);
  std::string small;
  for (std::uint64_t number = 2; number < 2002; ++number) {
    small += file_of(content, number, 100, 65535);
  }
  testing::make_file(scratch / "small", small);
  // Beginnings that lie near each other in the buffer are few.
  EXPECT_GT(std::stoul(testing::output_of("gzip -c < " + scratch / "small" + " | wc -c")), small.size() * 95 / 100);
}

/// What gzip makes of a file, in percent of its size.
std::size_t percent_left(const ContentSpec& spec, std::size_t size) {
  Content content(spec, 7, 1, 1, 65536);
  const testing::Scratch scratch;
  testing::make_file(scratch / "file", file_of(content, 1, size, 65535));
  return std::stoul(testing::output_of("gzip -c < " + scratch / "file" + " | wc -c")) * 100 / size;
}

TEST(Content, CompressesAsItsKindSays) {
  for (const std::size_t size : {100'000u, 5'000'000u}) {
    EXPECT_GE(percent_left({ContentKind::random}, size), 99u);
    EXPECT_LT(percent_left({ContentKind::letter_a}, size), 5u);
    EXPECT_LT(percent_left({ContentKind::zero}, size), 5u);
    for (const unsigned percent : {1u, 10u, 25u, 50u, 75u, 99u}) {
      EXPECT_NEAR(static_cast<double>(percent_left({ContentKind::compressible, percent}, size)), 100.0 - percent, 3)
          << percent;
    }
  }
}

TEST(Content, TheEndOfEachBlockIsZero) {
  for (const unsigned percent : {1u, 50u, 99u}) {
    Content content({ContentKind::compressible, percent}, 7, 1, 1, 4096);
    const std::size_t zeros = Content::block * percent / 100;
    for (const std::uint64_t number : {1u, 2u, 3u}) {
      const std::string file = file_of(content, number, 2 * Content::period + 100, 4095);
      for (std::size_t at = 0; at + Content::block <= file.size(); at += Content::block) {
        ASSERT_EQ(file.compare(at + Content::block - zeros, zeros, std::string(zeros, '\0')), 0)
            << percent << " " << at;
        // A random byte is zero now and then.
        ASSERT_LT(std::count(file.begin() + static_cast<std::ptrdiff_t>(at),
                             file.begin() + static_cast<std::ptrdiff_t>(at + Content::block - zeros), '\0'),
                  50);
      }
    }
  }
}

TEST(Content, Zero) {
  Content content(ContentKind::zero, 7, 1, 1, 4096);
  EXPECT_EQ(file_of(content, 1, 10000, 4095), std::string(10000, '\0'));
}

TEST(Content, KindsHaveNames) {
  for (const ContentSpec& spec : all_kinds) {
    EXPECT_EQ(parse_content(content_name(spec)), spec) << content_name(spec);
  }
  EXPECT_EQ(content_name({ContentKind::letter_a, 0}), "letter-a");
  EXPECT_EQ(parse_content("compressible:7"), (ContentSpec{ContentKind::compressible, 7}));
  for (const std::string text : {"",
                                 "Random",
                                 "random ",
                                 "random:1",
                                 "letter_a",
                                 "zeros",
                                 "zero:50",
                                 "compressible",
                                 "compressible:",
                                 "compressible:0",
                                 "compressible:00",
                                 "compressible:05",
                                 "compressible:100",
                                 "compressible:-1",
                                 "compressible:+1",
                                 "compressible: 5",
                                 "compressible:5 ",
                                 "compressible:5%",
                                 "compressible:5.0",
                                 "compressible:0x5",
                                 "compressible:4294967297",
                                 "Compressible:50"}) {
    EXPECT_FALSE(parse_content(text)) << text;
  }
  EXPECT_FALSE(parse_content(std::string("zero\0", 5)));
}

TEST(Content, RefusesOtherPercentages) {
  for (const unsigned percent : {0u, 100u, 4000u}) {
    EXPECT_THROW(Content({ContentKind::compressible, percent}, 7, 1, 1, 4096), std::invalid_argument) << percent;
  }
}

TEST(Content, LetterA) {
  Content content(ContentKind::letter_a, 7, 1, 1, 4096);
  EXPECT_EQ(file_of(content, 1, 10000, 4095), std::string(10000, 'a'));
}

TEST(Content, SmallestWriteBuffer) {
  Content content(ContentKind::random, 7, 1, 1, 2);
  Content other(ContentKind::random, 7, 1, 1, 4096);
  EXPECT_EQ(content.largest_piece(), 1u);
  EXPECT_EQ(file_of(content, 9, 20000, 1), file_of(other, 9, 20000, 4095));
}

TEST(Content, RefusesOtherWriteBuffers) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, Content::largest_write_buffer + 1}) {
    EXPECT_THROW(Content(ContentKind::random, 7, 1, 1, size), std::invalid_argument) << size;
    EXPECT_THROW(Content(ContentKind::letter_a, 7, 1, 1, size), std::invalid_argument) << size;
  }
}

}  // namespace
}  // namespace mongo::phases
