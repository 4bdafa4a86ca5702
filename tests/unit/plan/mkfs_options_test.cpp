#include "harness/plan/mkfs_options.h"

#include <gtest/gtest.h>

#include "harness/core/errors.h"

namespace mongo {
namespace {

const MkfsRules rules{
    "somefs", {"-j", "-q", "-N COUNT", "-O FEATURES", "--mixed", "--nodesize SIZE"}, {"device", "logdev"}};

std::string refusal(const std::vector<std::string>& words, const MkfsRules& with = rules) {
  try {
    check_mkfs_options(with, words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

void expect_refused(const std::vector<std::string>& words, const std::string& word, const std::string& part) {
  const std::string text = refusal(words);
  EXPECT_NE(text.find("--mkfs-options: '" + word + "' "), std::string::npos) << text;
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(MkfsOptions, AreReadAsGetoptReadsThem) {
  const std::vector<std::vector<std::string>> good{{},
                                                   {"-j"},
                                                   {"-jq"},
                                                   {"-N", "400"},
                                                   {"-N400"},
                                                   {"-jqN400"},
                                                   {"-jN", "400"},
                                                   {"-N", "-1024"},
                                                   {"-O", "^a,b=1:2,c"},
                                                   {"-Nj"},
                                                   {"--mixed", "-j"},
                                                   {"--nodesize", "4096"},
                                                   {"--nodesize=4096"},
                                                   {"-O", "devices,logdevice=1"},
                                                   {"-N", "400", "-N", "500"}};
  for (const auto& words : good) EXPECT_EQ(refusal(words), "accepted");
}

TEST(MkfsOptions, WhatIsNotOnTheListIsRefusedWithTheList) {
  for (const char* word :
       {"-J", "-jx", "-jqxN4", "-n", "--nodes", "--mix", "--rootdir=x", "-V", "---mixed", "--MIXED"}) {
    expect_refused({word}, word, "cannot be used with somefs");
    expect_refused({word}, word, "-j, -q, -N COUNT, -O FEATURES, --mixed, --nodesize SIZE");
  }
  expect_refused({"-jx"}, "-jx", "(-x)");
  EXPECT_NE(refusal({"-x"}, {"zfs", {}, {}}).find("Can be used: none"), std::string::npos);
}

TEST(MkfsOptions, FurtherWordsAreRefused) {
  for (const char* word : {"sdb", "/dev/sdb", "LABEL=x", "400", "", "-"}) {
    expect_refused({"-j", word}, word, "neither an option nor the value of one");
    expect_refused({"-N", "400", word}, word, "neither");
  }
  expect_refused({"--"}, "--", "before DEVICE");
  expect_refused({"-j", "--", "-j"}, "--", "before DEVICE");
}

TEST(MkfsOptions, ValuesAreThereAndWhereTheyBelong) {
  expect_refused({"-N"}, "-N", "lacks its value (-N COUNT)");
  expect_refused({"-jN"}, "-jN", "lacks its value (-N COUNT)");
  expect_refused({"--nodesize"}, "--nodesize", "lacks its value (--nodesize SIZE)");
  expect_refused({"-N", "-j"}, "-N", "'-j' follows");
  expect_refused({"-N", "--"}, "-N", "'--' follows");
  expect_refused({"-N", ""}, "-N ", "empty");
  expect_refused({"--nodesize="}, "--nodesize=", "empty");
  expect_refused({"--mixed=1"}, "--mixed=1", "takes no value");
}

TEST(MkfsOptions, ValuesNameNoFileAndNoDevice) {
  const char* values[] = {"/dev/sdb",        "x/y",           "a,b=/dev/sdb",  "LABEL=extj",   "a=LABEL=extj",
                          "uuid=1-2",        "x,PARTUUID=12", "PartLabel=x",   "ID=ata-x",     "a:UUID=1",
                          "device",          "device=extj",   "size=4,device", "a b,device=1", "a logdev=x",
                          "a,logdev=LABEL=", "Device=extj",   "+device",       "a,++device=x", "device:x"};
  for (const std::string value : values) {
    expect_refused({"-O", value}, "-O " + value, "mkfs may touch nothing but DEVICE");
    expect_refused({"-jO" + value}, "-jO" + value, "mkfs may touch nothing but DEVICE");
    expect_refused({"--nodesize=" + value}, "--nodesize=" + value, "mkfs may touch nothing but DEVICE");
  }
  for (const char* value : {"idle=1", "valid=2", "void=3", "labels=4"}) EXPECT_EQ(refusal({"-O", value}), "accepted");
}

TEST(MkfsOptions, OnlyTheValuesThatThereAre) {
  const MkfsRules some{"somefs", {"-j", "-h tea|rupasov|r5", "--hash tea|rupasov|r5", "-b SIZE"}, {}};
  const std::vector<std::vector<std::string>> good{{"-h", "tea"},    {"-hrupasov"},  {"-jh", "r5"},
                                                   {"--hash", "r5"}, {"--hash=tea"}, {"-b", "bogus"}};
  for (const auto& words : good) EXPECT_EQ(refusal(words, some), "accepted") << words[0];
  const std::vector<std::vector<std::string>> bad{{"-h", "bogus"},    {"-hte"},       {"-jh", "TEA"}, {"-h", "tea|r5"},
                                                  {"--hash", "asov"}, {"--hash=r5|"}, {"-h", "|"}};
  for (const auto& words : bad) {
    EXPECT_NE(refusal(words, some).find("has a value that mkfs does not know"), std::string::npos) << words[0];
  }
  EXPECT_NE(refusal({"-h", "bogus"}, some).find("'-h bogus' "), std::string::npos);
  EXPECT_NE(refusal({"-h", "bogus"}, some).find("Can be used: -h tea|rupasov|r5"), std::string::npos);
}

TEST(MkfsOptions, WhatExistsIsRefusedAsALastResort) {
  for (const char* value : {"etc", "a,etc", "x=etc", "x:etc", ".", "a=.."}) {
    expect_refused({"-O", value}, std::string("-O ") + value, "names a file or a device ('/");
  }
}

TEST(MkfsOptions, MessagesAreFitForATerminal) { expect_refused({"-\x1b[2J"}, "-\\x1b[2J", "cannot be used"); }

}  // namespace
}  // namespace mongo
