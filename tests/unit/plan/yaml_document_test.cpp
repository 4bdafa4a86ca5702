// YAML read strictly: what other readers drop without a word is refused by its name and place.
#include "harness/plan/yaml_document.h"

#include <gtest/gtest.h>

#include "harness/core/errors.h"

namespace mongo {
namespace {

std::string refusal(const std::string& text) {
  try {
    const YamlDocument document(text, "f");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(YamlDocument, KeepsTextsAsTheyAreWritten) {
  const YamlDocument document("a: no\nb: 010\nc: 'off'\nd: [y, 1e3]\ne:\nf: ~\n", "f");
  const auto& entries = document.root().entries;
  ASSERT_EQ(entries.size(), 6U);
  EXPECT_EQ(entries[0].value->text, "no");
  EXPECT_EQ(entries[1].value->text, "010");
  EXPECT_TRUE(entries[1].value->plain);
  EXPECT_EQ(entries[2].value->text, "off");
  EXPECT_FALSE(entries[2].value->plain);
  EXPECT_EQ(entries[3].value->items[1]->text, "1e3");
  EXPECT_EQ(entries[4].value->kind, YamlNode::Kind::null);
  EXPECT_EQ(entries[5].value->kind, YamlNode::Kind::null);
}

TEST(YamlDocument, AColonTooManyHasAHint) {
  const std::string hint = "illegal map value. A text that holds ': ' or has a ':' at its end must be in quotes";
  for (const char* text : {"device: loop:\n", "device: loop: 1GiB\n"}) {
    EXPECT_EQ(refusal(text), "f:1:13: this is no YAML: " + hint) << text;
  }
  EXPECT_EQ(refusal("device: 'loop:'\n"), "");
  EXPECT_EQ(refusal("device: loop:1GiB\n"), "");
  EXPECT_EQ(refusal("a: [1\n").find(hint), std::string::npos);
}

TEST(YamlDocument, KnowsPlacesInCharacters) {
  const YamlDocument document("ä: [ö, x]\nb:\n  - {c: d}\n", "f");
  const auto& entries = document.root().entries;
  EXPECT_EQ(entries[0].value->items[1]->place.column, 8);
  EXPECT_EQ(entries[1].place.line, 2);
  EXPECT_EQ(entries[1].value->items[0]->entries[0].value->place.line, 3);
  EXPECT_EQ(entries[1].value->items[0]->entries[0].value->place.column, 9);
}

TEST(YamlDocument, TabsAreNamed) {
  EXPECT_EQ(refusal("a:\n\tb: 1\n"), "f:2:1: a tab at the beginning of a line: YAML is indented by blanks only");
  EXPECT_EQ(refusal("a:\n  \tb: 1\n").substr(0, 12), "f:2:3: a tab");
  EXPECT_EQ(refusal("a: 1\n \t# comment\n").substr(0, 12), "f:2:2: a tab");
  EXPECT_EQ(refusal("a:\t1\t# one\nb:\t2\t\n"), "");
  EXPECT_NE(refusal("a: b:\tc\n").find("there is a tab in this line"), std::string::npos) << refusal("a: b:\tc\n");
}

TEST(YamlDocument, DuplicateKeysNameBothLines) {
  EXPECT_EQ(refusal("a: 1\nb: 2\na: 3\n"), "f:3:1: a: the key is there twice, first in line 1. Remove one of them");
  EXPECT_EQ(refusal("x: {a: 1, 'a': 2}\n").substr(0, 10), "f:1:11: a:");
  EXPECT_EQ(refusal("x: {a: 1}\ny: {a: 1}\n"), "");
}

TEST(YamlDocument, MergeKeysAreRefusedByName) {
  EXPECT_EQ(refusal("a: &a {x: 1}\nb:\n  <<: *a\n").substr(0, 27), "f:3:3: <<: merge keys are n");
}

TEST(YamlDocument, OneDocumentOnly) {
  EXPECT_EQ(refusal("---\na: 1\n...\n"), "");
  EXPECT_EQ(refusal("%YAML 1.2\n---\na: 1\n"), "");
  EXPECT_EQ(refusal("a: 1\n---\nb: 2\n").substr(0, 23), "f:2:1: a second documen");
  EXPECT_EQ(refusal("a: 1\n---\n").substr(0, 23), "f:2:1: a second documen");
  EXPECT_EQ(refusal("a: 1\n...\n---\n").substr(0, 23), "f:3:1: a second documen");
}

TEST(YamlDocument, MarksAndLineEndsOfOtherSystemsAreTaken) {
  const YamlDocument document(
      "\xef\xbb\xbf"
      "a:\r\n  b: \"x\r\n    y\"\r\n",
      "f");
  EXPECT_EQ(document.root().entries[0].key, "a");
  EXPECT_EQ(document.root().entries[0].place.column, 1);
  EXPECT_EQ(document.root().entries[0].value->entries[0].value->text, "x y");
  const std::string mark = "\xef\xbb\xbf";
  EXPECT_EQ(refusal(mark + "a: 1\n"), "");
  EXPECT_EQ(refusal(mark + mark + "a: 1\n").substr(0, 24), "f:1:1: a byte order mark");
  EXPECT_EQ(refusal("a: 1\n" + mark + "b: 2\n").substr(0, 24), "f:2:1: a byte order mark");
}

TEST(YamlDocument, OnlyUtf8WithoutControlCharacters) {
  EXPECT_EQ(refusal("a: \xff\n"), "f:1:4: the byte 0xff is not UTF-8");
  EXPECT_EQ(refusal("ab: \xc0\x80\n"), "f:1:5: the byte 0xc0 is not UTF-8");
  EXPECT_EQ(refusal("a: \xed\xa0\x80\n"), "f:1:4: the byte 0xed is not UTF-8");
  EXPECT_EQ(refusal("a: \xe2\x82"), "f:1:4: the byte 0xe2 is not UTF-8");
  EXPECT_EQ(refusal("a: b\rc: d\n"), "f:1:5: the control character 0x0d cannot be here");
  EXPECT_EQ(refusal(std::string("a: 1\n\0b: 2\n", 11)), "f:2:1: the control character 0x00 cannot be here");
  EXPECT_EQ(refusal("\xff\xfe"
                    "a"),
            "f:1:1: the byte 0xff is not UTF-8");  // UTF-16
}

TEST(YamlDocument, AnchorsAreTakenAndCyclesAreNot) {
  const YamlDocument document("a: &x [1, 2]\nb: *x\n", "f");
  EXPECT_EQ(document.root().entries[1].value->items.size(), 2U);
  EXPECT_EQ(refusal("a: &x [1, *x]\n"), "f:1:11: this alias is inside of what it stands for");
  EXPECT_NE(refusal("a: *x\n").find("f:1:4: this is no YAML"), std::string::npos) << refusal("a: *x\n");
}

TEST(YamlDocument, DepthTagsAndOddKeysAreRefused) {
  for (const std::size_t depth : {17U, 400U, 100000U}) {
    EXPECT_NE(refusal(std::string(depth, '[')), "") << depth;
    EXPECT_NE(refusal(std::string(depth, '{')), "") << depth;
    EXPECT_NE(refusal(std::string(depth, '[') + std::string(depth, ']')).find("nested too deeply"), std::string::npos);
  }
  EXPECT_EQ(refusal("a: !!str 1\n").substr(0, 15), "f:1:4: the tag ");
  EXPECT_EQ(refusal("a: !x {b: c}\n").substr(0, 15), "f:1:4: the tag ");
  EXPECT_NE(refusal("[a]: 1\n"), "");
  EXPECT_NE(refusal("? [a]\n: 1\n").find("a key must be a text"), std::string::npos);
  EXPECT_NE(refusal("~: 1\n").find("a key must be a text"), std::string::npos);
}

}  // namespace
}  // namespace mongo
