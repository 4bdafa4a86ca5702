#include <gtest/gtest.h>

#include "harness/core/errors.h"
#include "harness/report/append.h"

namespace mongo {
namespace {

std::string refusal(const std::string& name) {
  try {
    check_log_name(name);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(LogName, Allowed) {
  for (const std::string& name :
       {std::string("logext3"), std::string("log ext3"), std::string("a"), std::string("a.b-c"), std::string("a..b"),
        std::string("\xc3\xa4\xe2\x82\xac"), std::string("tbl"), std::string("log.tbl2"), std::string(200, 'x')}) {
    EXPECT_EQ(refusal(name), "") << name;
  }
}

TEST(LogName, RefusedWithTheReason) {
  EXPECT_EQ(refusal(""), "the log name is empty");
  EXPECT_NE(refusal(std::string(201, 'x')).find("is 201 bytes long; at most 200 are allowed"), std::string::npos);
  EXPECT_NE(refusal(std::string(300, 'x')).find("is 300 bytes long; at most 200 are allowed"), std::string::npos);
  const std::string separator =
      "holds a '/'; it is the name of a file in the results folder, which is chosen apart from it";
  EXPECT_EQ(refusal("a/b"), "the log name \"a/b\" " + separator);
  EXPECT_EQ(refusal("../x"), "the log name \"../x\" " + separator);
  EXPECT_EQ(refusal("/tmp/x/log"), "the log name \"/tmp/x/log\" " + separator);
  EXPECT_EQ(refusal("-n"), "the log name \"-n\" begins with '-' and would be taken for an option");
  EXPECT_EQ(refusal(".hidden"), "the log name \".hidden\" begins with '.' and would be hidden");
  EXPECT_EQ(refusal(".."), "the log name \"..\" begins with '.' and would be hidden");
  EXPECT_EQ(refusal("con\ntrol"), "the log name \"con\\ntrol\" holds a control character");
  EXPECT_EQ(refusal(std::string("a\0b", 3)), "the log name \"a\\x00b\" holds a control character");
  EXPECT_EQ(refusal("a\x7f"), "the log name \"a\\x7f\" holds a control character");
  EXPECT_EQ(refusal("a\xc2\x85"), "the log name \"a\\xc2\\x85\" holds a control character");
  EXPECT_EQ(refusal("a\xff"), "the log name \"a\xef\xbf\xbd\" is not valid UTF-8");
  EXPECT_EQ(refusal("logxfs.tbl"),
            "the log name \"logxfs.tbl\" ends in .tbl, which is for the files that are made beside a log");
  EXPECT_NE(refusal("logxfs_table").find("ends in _table"), std::string::npos);
  EXPECT_NE(refusal("logxfs.jsonl").find("ends in .jsonl"), std::string::npos);
}

}  // namespace
}  // namespace mongo
