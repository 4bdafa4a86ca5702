#include "harness/device/blank.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/filesystem.hpp>
#include <chrono>
#include <random>

#include "harness/core/errors.h"
#include "harness/device/system_files.h"

namespace mongo {
namespace {

namespace fs = boost::filesystem;

constexpr std::uint64_t MiB = 1 << 20;

class BlankTest : public testing::Test {
 protected:
  ~BlankTest() override {
    boost::system::error_code ignored;
    fs::remove(path, ignored);
  }
  void make(std::uint64_t size) {
    fs::remove(path);
    file = devio::FileDescriptor(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(ftruncate(file.get(), static_cast<off_t>(size)), 0);
  }
  void put(std::uint64_t offset, const std::string& bytes) const {
    ASSERT_EQ(pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)),
              static_cast<ssize_t>(bytes.size()));
  }
  /// Not a hole: zeros that are really there.
  void fill(std::uint64_t begin, std::uint64_t end, char byte = '\0') const {
    const std::string chunk(MiB, byte);
    for (std::uint64_t at = begin; at < end; at += MiB) put(at, chunk.substr(0, std::min(MiB, end - at)));
  }
  const std::string path = (fs::temp_directory_path() / fs::unique_path("mongo-blank-%%%%%%%%")).string();
  devio::FileDescriptor file;
};

TEST_F(BlankTest, ZerosAndHolesAreBlank) {
  for (const std::uint64_t size :
       {std::uint64_t{0}, std::uint64_t{512}, 8 * MiB, 8 * MiB + 512, 40 * MiB, 4096 * MiB}) {
    make(size);
    EXPECT_EQ(first_data(path), std::nullopt) << size;
  }
  make(100 * MiB + 1024);
  fill(0, 100 * MiB + 1024);
  EXPECT_EQ(first_data(path), std::nullopt);
}

TEST_F(BlankTest, OneByteAnywhereInASmallOne) {
  const std::uint64_t size = 70 * MiB + 512;
  for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{511}, 4 * MiB - 1, 4 * MiB, 35 * MiB + 4095,
                                 size - 4 * MiB - 1, size - 4 * MiB, size - 1}) {
    make(size);
    put(at, "x");
    EXPECT_EQ(first_data(path), at);
    fill(4 * MiB, 8 * MiB);
    put(at, "x");
    EXPECT_EQ(first_data(path), at) << "without holes";
  }
}

TEST_F(BlankTest, OneBlockInALargeSparseImage) {
  make(1ull << 40);
  put((1ull << 39) + 4096, std::string(4096, 'x'));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(first_data(path), (1ull << 39) + 4096);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

TEST_F(BlankTest, TheLastSectorOfALargeOne) {
  make(1024 * MiB);
  put(1024 * MiB - 512, "secret");
  EXPECT_EQ(first_data(path), 1024 * MiB - 512);
}

TEST_F(BlankTest, SamplesOfALargeOneAreSpreadEvenly) {
  make(108 * MiB);
  fill(4 * MiB, 104 * MiB);
  ASSERT_EQ(first_data(path), std::nullopt);
  // 100 MiB hold 500 samples, one in 210 KB: nothing of twice that length is overlooked, wherever it is.
  for (std::uint64_t at = 4 * MiB; at + MiB / 2 <= 104 * MiB; at += 7 * MiB + 12345) {
    put(at, std::string(MiB / 2, 'x'));
    const auto found = first_data(path);
    ASSERT_TRUE(found.has_value()) << at;
    EXPECT_GE(*found, at);
    EXPECT_LT(*found, at + MiB / 2);
    put(at, std::string(MiB / 2, '\0'));
  }
}

TEST_F(BlankTest, MakeBlankIsUndoneByNothingAndFillsNoHoles) {
  std::mt19937 random(1);
  for (const std::uint64_t size : {std::uint64_t{512}, 9 * MiB + 1536, 90 * MiB}) {
    make(size);
    std::string noise(std::min(size, 200 * 1024 + std::uint64_t{77}), '\0');
    for (char& c : noise) c = static_cast<char>(random());
    for (const std::uint64_t at : {std::uint64_t{0}, size / 2, size - noise.size()}) {
      put(std::min(at, size - noise.size()), noise);
    }
    ASSERT_TRUE(first_data(path).has_value());
    struct stat before {
    }, after{};
    ASSERT_EQ(fstat(file.get(), &before), 0);
    make_blank(file.get(), path);
    EXPECT_EQ(first_data(path), std::nullopt) << size;
    ASSERT_EQ(fstat(file.get(), &after), 0);
    // A block or two for the file system's own map of the file
    EXPECT_LT(after.st_blocks, before.st_blocks + 64);
    EXPECT_EQ(after.st_size, before.st_size);
  }
  make(120 * MiB);
  fill(0, 120 * MiB, 'x');
  make_blank(file.get(), path);
  EXPECT_EQ(first_data(path), std::nullopt) << "what is looked at is what is made blank";
}

TEST_F(BlankTest, WhatCannotBeReadIsAnError) {
  EXPECT_THROW(first_data("/nonexistent"), RunError);
  EXPECT_THROW(first_data("/tmp"), RunError);
  EXPECT_THROW(first_data("/dev/null"), RunError);
}

}  // namespace
}  // namespace mongo
