#pragma once

#include <string>
#include <vector>

// What a guest's kernel has, from the files that depmod(8) makes. Private to harness/guest.

namespace mongo {

class GuestModules {
 public:
  /// folder: /usr/lib/uml/modules/VERSION
  explicit GuestModules(std::string folder) : folder_(std::move(folder)) {}

  /// The folder is there and can be read.
  bool known() const;
  bool built_in(const std::string& filesystem) const;
  /// The files of a file system's module and of all that it needs, in the order of loading; empty when it is built in
  /// or nowhere.
  std::vector<std::string> files_for(const std::string& filesystem) const;

 private:
  std::string read(const std::string& name) const;
  std::string module_of_alias(const std::string& alias) const;
  void add(const std::string& module, std::vector<std::string>& files) const;
  std::string folder_;
};

namespace guest {
/// files_for() of the installed linux.uml.
std::vector<std::string> module_files(const std::string& filesystem);
}  // namespace guest

}  // namespace mongo
