#include "base/read_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace berth::read_file_test {
namespace {

TEST(ReadFile, SaysWhyAFileCannotBeRead) {
  EXPECT_EQ(read_file("/tmp").error().message, "cannot read /tmp: Is a directory");
  EXPECT_EQ(read_file("/none/such").error().message, "cannot read /none/such: No such file or directory");
}

TEST(ReadFile, ReadsEmptyAndLargeFilesUpToABound) {
  const auto path = std::filesystem::temp_directory_path() / "berth-read-file-test";
  const auto content = [&](std::size_t size) {
    std::ofstream(path, std::ios::binary) << std::string(size, 'x');
    return read_file(path);
  };
  EXPECT_EQ(content(0).value(), "");
  EXPECT_EQ(content(100'000).value(), std::string(100'000, 'x'));
  EXPECT_EQ(content(8u << 20).value().size(), 8u << 20);
  EXPECT_EQ(content((8u << 20) + 1).error().message, path.string() + " is larger than 8388608 bytes");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace berth::read_file_test
