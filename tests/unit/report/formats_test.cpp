#include <gtest/gtest.h>

#include <fstream>
#include <ostream>
#include <set>
#include <sstream>

#include "harness/report/catalogue.h"
#include "harness/report/format.h"
#include "harness/report/text.h"
#include "tests/unit/report/old_reader.h"
#include "tests/unit/report/samples.h"

namespace mongo {
namespace {

using old_reader::Figures;

std::string render(const std::string& suffix, const RunRecord& record) {
  for (const Format* format : formats()) {
    if (suffix == format->suffix) return format->render(record);
  }
  return "no such format";
}

TEST(Catalogue, InTheOrderOfTheirPositions) {
  std::vector<std::string> suffixes;
  std::set<int> positions;
  for (const Format* format : formats()) {
    suffixes.emplace_back(format->suffix);
    positions.insert(format->position);
    EXPECT_FALSE(std::string(format->summary).empty());
  }
  EXPECT_EQ(suffixes, (std::vector<std::string>{".jsonl", "", ".tbl", "_table"}));
  EXPECT_EQ(positions.size(), formats().size());
}

struct Sample {
  const char* name;
  RunRecord (*record)();
};

/// Keeps GoogleTest from naming the test by the addresses in it.
void PrintTo(const Sample& sample, std::ostream* out) { *out << sample.name; }

class ExpectedFiles : public testing::TestWithParam<Sample> {};

// With MONGO_WRITE_EXPECTED=1 in the environment the files are written instead of compared.
TEST_P(ExpectedFiles, AreMadeByteForByte) {
  for (const Format* format : formats()) {
    const std::string text = format->render(GetParam().record());
    const auto path = samples::expected_folder() / (std::string("log_") + GetParam().name + format->suffix);
    if (samples::write_expected()) std::ofstream(path, std::ios::binary) << text;
    EXPECT_EQ(text, samples::read_file(path)) << path;
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, ExpectedFiles,
                         testing::Values(Sample{"full", samples::full}, Sample{"out_of_inodes", samples::out_of_inodes},
                                         Sample{"interrupted", samples::interrupted},
                                         Sample{"unsupported", samples::unsupported},
                                         Sample{"minimal", samples::minimal}),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

TEST(Formats, EveryBlockBelongsToItsRun) {
  for (const auto record : {samples::full, samples::out_of_inodes, samples::interrupted, samples::unsupported}) {
    const RunRecord run = record();
    const std::size_t blocks = std::max<std::size_t>(run.passes.size(), 1);
    EXPECT_EQ(old_reader::read_log(render("", run)).size(), blocks);
    EXPECT_EQ(old_reader::read_tbl(render(".tbl", run)).size(), blocks);
    EXPECT_EQ(old_reader::read_table(render("_table", run)).size(), blocks);
    for (const char* suffix : {"", ".tbl", "_table"}) {
      const std::string text = render(suffix, run);
      std::size_t ids = 0;
      for (std::size_t at = 0; (at = text.find("run_id=" + run.run_id + "\n", at)) != std::string::npos; ++at) ++ids;
      EXPECT_EQ(ids, blocks) << suffix;
      EXPECT_EQ(text.back(), '\n');
    }
  }
}

TEST(Formats, HostileTextsMakeNoLines) {
  const RunRecord hostile = samples::hostile();
  for (const Format* format : formats()) {
    std::istringstream text(format->render(hostile));
    for (std::string line; std::getline(text, line);) {
      EXPECT_TRUE(is_valid_utf8(line));
      EXPECT_FALSE(line.starts_with("Create : 0.01")) << format->suffix;
      EXPECT_FALSE(line.starts_with("files=1\n")) << format->suffix;
      EXPECT_EQ(line.find('\x1b'), std::string::npos);
      EXPECT_EQ(line.find('\0'), std::string::npos);
      EXPECT_EQ(line.find("nan"), std::string::npos);
      EXPECT_TRUE(line.size() < 1200 || std::string(format->suffix) == ".jsonl");
    }
  }
  const Figures tbl = old_reader::read_tbl(render(".tbl", hostile))[0];
  EXPECT_EQ(tbl.at("Create"), "-");
  EXPECT_EQ(tbl.at("Copy"), "-");
  EXPECT_EQ(tbl.at("Copy.df"), "194124");
}

TEST(Formats, AddedPhasesHaveAPlaceOfTheirOwn) {
  RunRecord record = samples::full();
  record.passes.resize(1);
  PhaseRecord append = record.passes[0].phases[2];
  append.name = "append";
  append.label = "Append";
  record.passes[0].phases.insert(record.passes[0].phases.begin() + 2, append);
  EXPECT_NE(render("", record).find("* Phase 8: Append files of"), std::string::npos);
  EXPECT_NE(render("", record).find("* Phase 3: Slinks files of"), std::string::npos);
  EXPECT_NE(render(".tbl", record).find("Delete : 5.350\nAppend : 2.490\n"), std::string::npos);
  EXPECT_NE(render("_table", record).find("Rename\tDelete\tAppend\n"), std::string::npos);
}

std::string old_file(const std::string& name) { return samples::read_file(samples::expected_folder() / "old" / name); }

/// The old figures and ours are the same numbers, however many digits they have.
void expect_same_figures(const Figures& old, const Figures& ours) {
  for (const auto& [name, text] : old) {
    ASSERT_TRUE(ours.contains(name)) << name;
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (*end != '\0') {
      EXPECT_EQ(ours.at(name), text) << name;
    } else {
      EXPECT_NEAR(std::strtod(ours.at(name).c_str(), nullptr), number, 0.0005) << name;
    }
  }
}

/// The figures that the first sample shares with the old files; the old fragments after copy were none.
RunRecord as_in_the_old_files() {
  RunRecord record = samples::full();
  record.passes.resize(1);
  record.passes[0].phases[1].fragmentation->above_threshold = {177, 0, 0.0};
  return record;
}

TEST(OldReader, FindsEveryFigureOfTheLog) {
  const std::vector<Figures> old = old_reader::read_log(old_file("logxfs"));
  ASSERT_EQ(old.size(), 3U);
  // Base size, processes, file system; seven totals and 21 repetitions; five more of two phases.
  EXPECT_EQ(old[0].size(), 3U + 7U + 21U + 10U);
  EXPECT_EQ(old[0].at("Create.fragments"), "177");
  const std::vector<Figures> ours = old_reader::read_log(render("", as_in_the_old_files()));
  ASSERT_EQ(ours.size(), 1U);
  expect_same_figures(old[0], ours[0]);
  EXPECT_EQ(ours[0].size(), old[0].size());
}

TEST(OldReader, FindsEveryFigureOfTheTbl) {
  const std::vector<Figures> old = old_reader::read_tbl(old_file("logxfs.tbl"));
  ASSERT_EQ(old.size(), 3U);
  EXPECT_EQ(old[0].size(), 4U + 7U + 4U);
  const std::vector<Figures> ours = old_reader::read_tbl(render(".tbl", as_in_the_old_files()));
  ASSERT_EQ(ours.size(), 1U);
  expect_same_figures(old[0], ours[0]);
  EXPECT_EQ(ours[0].size(), old[0].size());
}

TEST(OldReader, FindsEveryFigureOfTheTable) {
  const std::vector<Figures> old = old_reader::read_table(old_file("logxfs_table"));
  ASSERT_EQ(old.size(), 3U);
  EXPECT_EQ(old[0].size(), 4U + 7U + 2U);
  const std::vector<Figures> ours = old_reader::read_table(render("_table", as_in_the_old_files()));
  ASSERT_EQ(ours.size(), 1U);
  expect_same_figures(old[0], ours[0]);
  EXPECT_EQ(ours[0].size(), old[0].size());
}

TEST(OldReader, FindsTheSameFiguresWhateverTheTableForPeopleSays) {
  RunRecord record = as_in_the_old_files();
  record.flags = {"FILESYSTEM=forged", "MONGO_SINGLE_PROCESS"};
  record.warnings = {"parameters: files=1\n-\t1", std::string(90, 'x') + " FILESYSTEM=forged"};
  record.run_id = "MONGO_SINGLE_PROCESS";
  const std::string text = render("_table", record);
  EXPECT_EQ(old_reader::read_table(text), old_reader::read_table(render("_table", as_in_the_old_files())));
  const std::vector<Figures> twice = old_reader::read_table(text + text);
  ASSERT_EQ(twice.size(), 2U);
  EXPECT_EQ(twice[0], twice[1]);
}

TEST(Formats, ConditionsAreNamedInEveryHeader) {
  RunRecord record = samples::full();
  record.passes[0].phases[0].fragmentation->method = "FIBMAP";
  record.passes[0].phases[3].cache = {};
  for (const char* suffix : {"", ".tbl", "_table"}) {
    const std::string indent = std::string(suffix) == "_table" ? "  " : "";
    const std::string text = render(suffix, record);
    for (const char* line : {"sync=each", "content=compressible:50", "verify=yes", "run_flag=loop-device",
                             "run_warning=load of 2.30 before the start", "fragments_method=FIBMAP, FIEMAP",
                             "cache=remount instead of drop before create, copy, symlink, stat, rename, delete"}) {
      EXPECT_NE(text.find("\n" + indent + line + "\n"), std::string::npos) << suffix << " " << line;
    }
    // The defaults need no word, except how data got to the device.
    const std::string plain = render(suffix, samples::minimal());
    EXPECT_NE(plain.find("\n" + indent + "sync=phase\n"), std::string::npos) << suffix;
    for (const char* key : {"cache=", "content=", "verify=", "run_flag=", "run_warning=", "fragments_method="}) {
      EXPECT_EQ(plain.find(key), std::string::npos) << suffix << " " << key;
    }
  }
}

TEST(Formats, TheLogSaysWhatIsNotKnown) {
  RunRecord record = samples::full();
  record.passes.resize(1);
  PhaseRecord& create = record.passes[0].phases[0];
  create.free_space = FreeSpace{};
  create.free_space->reason = "GETFSMAP is not supported (EOPNOTSUPP)";
  create.machine_cpu_percent = std::nullopt;
  create.seconds = std::nullopt;
  create.suspended_seconds = 12;
  const std::string text = render("", record);
  EXPECT_NE(text.find("\nfree_space=unknown, GETFSMAP is not supported (EOPNOTSUPP)\n"), std::string::npos);
  EXPECT_NE(text.find("\ncpu_percent=workers 65.5, machine -\n"), std::string::npos);
  EXPECT_NE(text.find("\nsuspended=12.000 sec.\n"), std::string::npos);
  EXPECT_NE(text.find("\nnote=create: its time is not known, the machine slept for 12.000 s\n"), std::string::npos);
}

TEST(OldReader, FindsNoNumberWhereThereIsNoTime) {
  const RunRecord record = samples::out_of_inodes();
  const Figures log = old_reader::read_log(render("", record))[0];
  const Figures tbl = old_reader::read_tbl(render(".tbl", record))[0];
  const Figures table = old_reader::read_table(render("_table", record))[0];
  for (const char* label : {"Create", "Copy", "Slinks", "Read", "Stats", "Rename"}) {
    EXPECT_EQ(log.at(label), "-") << label;
    EXPECT_EQ(tbl.at(label), "-") << label;
    EXPECT_EQ(table.at(std::string(label) == "Slinks" ? "Slink" : label), "-") << label;
  }
  EXPECT_EQ(log.at("Delete"), "0.090");
  EXPECT_EQ(tbl.at("Delete"), "0.090");
  EXPECT_EQ(table.at("Delete"), "0.090");
}

/// Lines as groups between blank lines, keys only.
std::vector<std::vector<std::string>> groups(const std::string& text) {
  std::vector<std::vector<std::string>> out(1);
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    line.erase(line.find_last_not_of(' ') + 1);
    if (!line.empty()) {
      out.back().push_back(line.substr(0, line.find_first_of("=:0123456789")));
    } else if (!out.back().empty()) {
      out.emplace_back();
    }
  }
  if (out.back().empty()) out.pop_back();
  return out;
}

TEST(OldReader, GroupsKeysAndTheirOrderAreKept) {
  RunRecord record = as_in_the_old_files();
  record.passes.push_back(record.passes[0]);
  record.passes.push_back(record.passes[0]);
  for (const char* suffix : {".tbl", "_table"}) {
    const auto old = groups(old_file(std::string("logxfs") + suffix));
    const auto ours = groups(render(suffix, record));
    // The table for people comes below all of the old ones and has no line that begins like one of theirs.
    ASSERT_GE(ours.size(), old.size()) << suffix;
    EXPECT_EQ(std::string(suffix) == ".tbl", ours.size() == old.size());
    for (std::size_t i = old.size(); i < ours.size(); ++i) {
      for (const std::string& key : ours[i]) EXPECT_TRUE(key.starts_with("  ")) << key;
    }
    for (std::size_t i = 0; i < old.size(); ++i) {
      std::size_t next = 0;  // the old keys are a subsequence of ours
      for (const std::string& key : ours[i]) {
        if (next < old[i].size() && key == old[i][next]) ++next;
      }
      EXPECT_EQ(next, old[i].size()) << suffix << " group " << i;
    }
  }
}

}  // namespace
}  // namespace mongo
