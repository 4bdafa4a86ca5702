#include "harness/plan/words.h"

#include <gtest/gtest.h>

#include "harness/core/errors.h"

namespace mongo {
namespace {

using Words = std::vector<std::string>;

TEST(SplitWords, SplitsAsAShellDoesAndExpandsNothing) {
  EXPECT_EQ(split_words(""), Words{});
  EXPECT_EQ(split_words(" \t\n "), Words{});
  EXPECT_EQ(split_words("-N 4000"), (Words{"-N", "4000"}));
  EXPECT_EQ(split_words("  -O  ^has_journal "), (Words{"-O", "^has_journal"}));
  EXPECT_EQ(split_words("-L 'a b' \"c d\""), (Words{"-L", "a b", "c d"}));
  EXPECT_EQ(split_words("a'b'\"c\"d"), (Words{"abcd"}));
  EXPECT_EQ(split_words("''"), (Words{""}));
  EXPECT_EQ(split_words("a\\ b \\\\ \\'"), (Words{"a b", "\\", "'"}));
  EXPECT_EQ(split_words("\"a\\\"b\\n\\$\""), (Words{"a\"b\\n$"}));
  EXPECT_EQ(split_words("'a\\'"), (Words{"a\\"}));
  EXPECT_EQ(split_words("$HOME * ~ `id` $(id) ; | &"), (Words{"$HOME", "*", "~", "`id`", "$(id)", ";", "|", "&"}));
}

TEST(SplitWords, RefusesWhatIsNotEnded) {
  for (const char* text : {"'", "\"", "a 'b", "\"a\\", "a\\", "\"\\\""})
    EXPECT_THROW(split_words(text), UsageError) << text;
}

TEST(SplitCommas, KeepsEmptyParts) {
  EXPECT_EQ(split_commas("a,b"), (Words{"a", "b"}));
  EXPECT_EQ(split_commas(""), (Words{""}));
  EXPECT_EQ(split_commas(",a,"), (Words{"", "a", ""}));
}

TEST(Nearest, SuggestsOnlyWhatIsNear) {
  const Words names{"create", "copy", "symlink"};
  EXPECT_EQ(nearest("crate", names), "create");
  EXPECT_EQ(nearest("simlink", names), "symlink");
  EXPECT_EQ(nearest("fragment", names), "");
  EXPECT_EQ(nearest("", names), "");
}

TEST(Nearest, SuggestsNothingWhereSeveralAreAsNear) {
  EXPECT_EQ(nearest("ext5", {"btrfs", "ext2", "ext3", "ext4"}), "");
  EXPECT_EQ(nearest("etx3", {"ext2", "ext3", "ext4"}), "ext3");
  // A tie counts only among the nearest.
  EXPECT_EQ(nearest("ext3a", {"ext2", "ext4", "ext3"}), "ext3");
}

}  // namespace
}  // namespace mongo
