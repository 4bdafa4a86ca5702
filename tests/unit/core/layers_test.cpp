// Data flows one way: a folder may include only what lies below it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::set<std::string>> may_include{
    {"phases", {}},
    {"fsdrivers", {}},
    {"harness/core", {}},
    {"harness/process", {"harness/core"}},
    {"harness/report", {"harness/core"}},
    {"harness/device", {"harness/core", "harness/process"}},
    {"harness/measure", {"harness/core", "phases"}},
    {"harness/plan", {"harness/core", "phases", "fsdrivers"}},
    {"harness/workers", {"harness/core", "phases"}},
    {"harness/guest", {"harness/core", "harness/process"}},
    {"harness/run",
     {"harness/core", "harness/process", "harness/guest", "harness/report", "harness/device", "harness/measure",
      "harness/plan", "harness/workers", "phases", "fsdrivers"}},
    {"harness/matrix",
     {"harness/core", "harness/process", "harness/report", "harness/device", "harness/measure", "harness/plan",
      "harness/run", "phases", "fsdrivers"}},
    {"harness/cli",
     {"harness/core", "harness/process", "harness/report", "harness/device", "harness/measure", "harness/plan",
      "harness/run", "harness/matrix", "phases", "fsdrivers"}},
};

/// "harness/core" of "harness/core/errors.h", "phases" of "phases/support/walk.h".
std::string layer_of(const std::string& path) {
  const std::size_t first = path.find('/');
  if (path.substr(0, first) != "harness") return path.substr(0, first);
  return path.substr(0, path.find('/', first + 1));
}

TEST(Layers, NothingBelowKnowsAnythingAbove) {
  int files = 0, includes = 0;
  for (const auto& [layer, allowed] : may_include) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(MONGO_SOURCE_DIR) / layer)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
      ++files;
      std::ifstream in(entry.path());
      std::string line;
      const std::string directive = "#include \"";
      while (std::getline(in, line)) {
        if (line.rfind(directive, 0) != 0 || line.find('/') == std::string::npos) continue;
        ++includes;
        const std::string header = line.substr(directive.size(), line.rfind('"') - directive.size());
        const std::string used = layer_of(header);
        EXPECT_TRUE(used == layer || allowed.count(used) == 1) << entry.path() << " includes " << header;
      }
    }
  }
  EXPECT_GT(files, 50);
  EXPECT_GT(includes, 100);
}

TEST(Layers, BoostProcessHasOneUser) {
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(MONGO_SOURCE_DIR) / "harness")) {
    if (!entry.is_regular_file() || layer_of(fs::relative(entry.path(), MONGO_SOURCE_DIR)) == "harness/process")
      continue;
    std::ifstream in(entry.path());
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    EXPECT_EQ(text.find("#include <boost/process"), std::string::npos) << entry.path();
  }
}

}  // namespace
