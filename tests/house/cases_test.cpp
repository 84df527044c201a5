// The tests that docs/multikueue-cases.md names exist, and each case has its line.
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "source_dir.h"

namespace berth::house::cases_test {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::set<std::string> all_tests() {
  std::set<std::string> out;
  static const re2::RE2 test(R"(TEST(?:_F|_P)?\((\w+),\s*(\w+)\))");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source_path("tests"))) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = text_of(entry.path());
    re2::StringPiece rest(text);
    for (std::string suite, name; re2::RE2::FindAndConsume(&rest, test, &suite, &name);) out.insert(suite + "." + name);
  }
  return out;
}

TEST(Cases, OfMultiKueueNameTestsThatExist) {
  const std::string text = text_of(source_path("docs/multikueue-cases.md"));
  const std::set<std::string> tests = all_tests();
  static const re2::RE2 cited(R"(`([A-Z]\w+\.[A-Z]\w+)`)");
  std::size_t count = 0;
  re2::StringPiece rest(text);
  for (std::string name; re2::RE2::FindAndConsume(&rest, cited, &name); ++count)
    EXPECT_TRUE(tests.contains(name)) << name;
  EXPECT_GT(count, 50U);
}

TEST(Cases, OfMultiKueueAreAllThere) {
  const std::string text = text_of(source_path("docs/multikueue-cases.md"));
  std::set<int> found;
  static const re2::RE2 line(R"(\n\| (\d+)(?:(?:, | to )(\d+))?\. )");
  re2::StringPiece rest(text);
  int first = 0;
  for (std::string second; re2::RE2::FindAndConsume(&rest, line, &first, &second);) {
    const int last = second.empty() ? first : std::stoi(second);
    for (int i = first; i <= last; ++i) EXPECT_TRUE(found.insert(i).second) << i;
  }
  for (int i = 1; i <= 70; ++i) EXPECT_TRUE(found.contains(i)) << i;
}

}  // namespace
}  // namespace berth::house::cases_test
