// What is said when a run cannot be taken up: which settings differ, and what to do.
#include "harness/matrix/cell_list.h"

#include "harness/core/errors.h"
#include "tests/unit/matrix/folder_test.h"

namespace mongo {
namespace {

class CellListTest : public test::FolderTest {
 protected:
  static std::string yaml(const std::string& defaults, const std::string& rest = "matrix: {processes: [1, 2]}\n") {
    return "device: none\nmount_point: /srv\ndefaults: {filesystem: dir, profile: smoke" + defaults + "}\n" + rest;
  }

  /// A run of that matrix, not begun.
  RunFolder run_of(const std::string& text) const {
    const RunFolder run{path("20261130T165001Z-1a2b3c")};
    test::fs::create_directories(run.path);
    put(run.matrix_file(), text);
    put(run.cells_file(), to_text(plan_cells(parse_matrix(text, "m.yaml"), MatrixOrder::listed, 1), run.name()));
    return run;
  }

  static std::string problem(const RunFolder& run, const std::string& file = "") {
    try {
      read_cells(run, file);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }
  /// With that text as FILE.
  std::string given(const RunFolder& run, const std::string& text) const {
    put(path("given.yaml"), text);
    return problem(run, path("given.yaml"));
  }
  std::string missing(const RunFolder& run, std::size_t index) const {
    return path("given.yaml") + " has no cell " + read_cells(run, "").cells.at(index).cell.log;
  }

  const std::string advice_ = ". Leave FILE out to go on with the run's own copy, or begin a new run without --resume";
};

TEST_F(CellListTest, ACellThatIsMissingIsComparedWithTheOneInItsPlace) {
  const RunFolder run = run_of(yaml(""));
  std::string other = yaml("");
  other.replace(other.find("/srv"), 4, "/mnt");
  EXPECT_EQ(given(run, other), missing(run, 0) + ": mount_point is /mnt, in the run it is /srv" + advice_);
  EXPECT_EQ(given(run, yaml(", sync: each, latency: false")),
            missing(run, 0) +
                ": sync is given as each, in the run it is not given; latency is false, in the run it is "
                "true" +
                advice_);
  EXPECT_EQ(given(run, yaml("", "matrix: {processes: [1, 3]}\n")),
            missing(run, 1) + ": processes is 3, in the run it is 2" + advice_);
  // The nearest one counts, wherever it stands; one that is of the run as well is in its own place.
  EXPECT_EQ(given(run, yaml(", sync: each", "matrix: {processes: [3, 2, 1]}\n")),
            missing(run, 0) + ": sync is given as each, in the run it is not given" + advice_);
  EXPECT_EQ(given(run, yaml("", "matrix: {processes: [2, 4]}\ndevices: [none]\n").substr(13)),
            missing(run, 0) + ": processes is 4, in the run it is 1" + advice_);
}

TEST_F(CellListTest, ADefaultThatIsWrittenOutIsNamed) {
  const RunFolder run = run_of(yaml(""));
  const std::string cell = ", cell " + read_cells(run, "").cells.at(0).cell.log + ": ";
  EXPECT_EQ(given(run, yaml(", content: random")),
            path("given.yaml") + cell + "content is given as random, in the run it is not given" + advice_);
  const RunFolder other = run_of(yaml(", content: random"));
  EXPECT_EQ(given(other, yaml("")),
            path("given.yaml") + cell + "content is not given, in the run it is given as random" + advice_);
}

TEST_F(CellListTest, MoreAndFewerCellsAreNamed) {
  const RunFolder run = run_of(yaml("", "matrix: {processes: [1]}\nrepeats: 2\n"));
  const std::string fewer = given(run, yaml("", "matrix: {processes: [1]}\n"));
  EXPECT_EQ(fewer, missing(run, 1) + ": repeats is less than in the run" + advice_);
  const std::string more = given(run, yaml("", "matrix: {processes: [1]}\nrepeats: 3\n"));
  EXPECT_NE(more.find("given.yaml has a further cell dir-p1-smoke"), std::string::npos) << more;
  EXPECT_TRUE(more.ends_with(advice_)) << more;
}

TEST_F(CellListTest, TheRunsOwnCopyHasAnotherAdvice) {
  const RunFolder run = run_of(yaml(""));
  put(run.matrix_file(), yaml(", sync: each"));
  const std::string text = problem(run);
  EXPECT_NE(text.find("sync is given as each, in the run it is not given. The copy was changed, or this version"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("Leave FILE out"), std::string::npos) << text;
}

TEST_F(CellListTest, DamageIsNotTakenForAnotherVersion) {
  const RunFolder run = run_of(yaml(""));
  const std::string whole = get(run.cells_file());
  const std::string begin = "Begin a new run: mongo matrix " + run.matrix_file();
  const std::string damaged = run.cells_file() + " cannot be understood: it is damaged, or not of this tool. " + begin;
  for (const std::string& text :
       {std::string(), std::string("\xff\x01 garbage"), std::string("[]"), std::string("{\"schema\":\"1\"}"),
        std::string("{\"schema\":1}"), whole.substr(0, whole.size() / 2),
        std::string("{\"schema\":1,\"order\":\"listed\",\"matrix\":\"m\",\"folder\":\"/\",\"seed\":1,"
                    "\"cells\":[{\"log\":7}]}")}) {
    put(run.cells_file(), text);
    EXPECT_EQ(problem(run), damaged) << text;
  }
  put(run.cells_file(), "{\"schema\":1,\"order\":[]}");
  EXPECT_THROW(read_head(run), UsageError);
  try {
    read_head(run);
  } catch (const UsageError& error) {
    EXPECT_EQ(error.what(), damaged);
  }
  put(run.cells_file(), "{\"schema\":2}");
  EXPECT_EQ(problem(run), run.cells_file() +
                              " is of another version of mongo: its schema is 2, this version reads 1. Use that "
                              "version, or begin a new run: mongo matrix " +
                              run.matrix_file());
}

}  // namespace
}  // namespace mongo
