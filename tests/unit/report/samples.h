#pragma once

#include <filesystem>
#include <string>

#include "harness/core/record.h"

namespace mongo::samples {

/// Two passes on XFS with the figures of the old sample files; every optional field is set somewhere.
RunRecord full();
/// full() with nothing to be known before its times are used.
RunRecord plain(const std::string& filesystem = "xfs");
/// One pass on ext4 that ran out of inodes in create: the later phases are skipped.
RunRecord out_of_inodes();
/// Interrupted in the second of its passes; fragments cannot be read; only some phases were asked for.
RunRecord interrupted();
/// Ended before any pass.
RunRecord unsupported();
/// As little as a record can hold.
RunRecord minimal();
/// NaN, invalid UTF-8, newlines, escape sequences, very long texts.
RunRecord hostile();

std::string read_file(const std::filesystem::path& path);
/// Whether the expected files are to be written instead of compared: MONGO_WRITE_EXPECTED is in the environment.
bool write_expected();
/// The folder tests/unit/report/expected.
std::filesystem::path expected_folder();
/// The text is what that file of the folder holds.
void expect_file(const std::string& name, const std::string& text);
bool contains(const std::string& text, const std::string& part);
/// The row of that label in the first table that has one.
std::string row(const std::string& text, const std::string& label);

/// A directory that is removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace mongo::samples
