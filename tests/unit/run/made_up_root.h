#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace mongo::testing_support {

/// A folder that stands for "/", removed at the end.
class MadeUpRoot {
 public:
  MadeUpRoot() {
    char name[] = "/tmp/mongo-test-XXXXXX";
    if (mkdtemp(name) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  ~MadeUpRoot() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  MadeUpRoot(const MadeUpRoot&) = delete;
  MadeUpRoot& operator=(const MadeUpRoot&) = delete;

  void write(const std::string& file, const std::string& text) const {
    make_parent(file);
    std::ofstream(path_ + "/" + file, std::ios::binary) << text;
  }
  void link(const std::string& file, const std::string& target) const {
    make_parent(file);
    std::filesystem::remove(path_ + "/" + file);
    std::filesystem::create_symlink(target, path_ + "/" + file);
  }
  void remove(const std::string& file) const { std::filesystem::remove_all(path_ + "/" + file); }
  const std::string& path() const { return path_; }

 private:
  void make_parent(const std::string& file) const {
    std::filesystem::create_directories(std::filesystem::path(path_ + "/" + file).parent_path());
  }
  std::string path_;
};

}  // namespace mongo::testing_support
