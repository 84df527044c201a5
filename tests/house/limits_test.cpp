// Limits of files and classes, and where tests lie.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "house/class_methods.h"
#include "house/tree.h"

namespace berth::house::limits_test {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLines = 400;
constexpr std::size_t kMostMethods = 40;
constexpr std::size_t kMostFunctionLines = 70;
// The comment before a larger class says why it is one class: this text, and the reason.
const std::string kReason = "More than 40 methods: ";

// Tests of more than one room.
const std::set<std::string> kOfSeveralRooms = {"tests/conformance", "tests/e2e", "tests/growth", "tests/house",
                                               "tests/install"};

bool has_reason(const TextFile& file, std::size_t line) {
  for (; line > 0 && file.lines[line - 1].find("//") != std::string::npos; --line) {
    if (file.lines[line - 1].find(kReason) != std::string::npos) return true;
  }
  return false;
}

void expect_none(const std::set<std::string>& wrong, const std::string& what) {
  for (const std::string& one : wrong) ADD_FAILURE() << one << " " << what;
}

TEST(Limits, FilesAreShort) {
  std::set<std::string> found;
  for (const char* folder : {"src", "tests", "bench", "fuzz"}) {
    for (const TextFile* file : files_below(folder)) {
      if (file->is_source() && file->lines.size() > kMostLines) found.insert(file->path.string());
    }
  }
  expect_none(found, "is longer than " + std::to_string(kMostLines) + " lines: split it by its subjects");
}

TEST(Limits, ClassesAreSmall) {
  std::set<std::string> found;
  std::size_t classes = 0;
  for (const TextFile* file : files_below("src")) {
    if (!file->is_source()) continue;
    for (const ClassMethods& one : class_methods(file->lines)) {
      ++classes;
      if (one.methods > kMostMethods && !has_reason(*file, one.line))
        found.insert(file->path.string() + " " + one.name);
    }
  }
  EXPECT_GT(classes, 1'000u);
  expect_none(found, "has more than " + std::to_string(kMostMethods) + " methods: cut it, or say \"" + kReason +
                         "...\" in the comment before it");
}

// The first lines of the functions and blocks with more than `most` lines, in formatted code: a block ends with a brace
// alone in its line, in the column in which its first line begins.
std::vector<std::size_t> long_blocks(const std::vector<std::string>& lines, std::size_t most) {
  std::vector<std::size_t> out;
  std::map<std::size_t, std::size_t> begins;  // the last line that begins in a column
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t column = lines[i].find_first_not_of(' ');
    if (column == std::string::npos) continue;
    if (lines[i].compare(column, std::string::npos, "}") != 0) {
      if (lines[i][column] != '}') begins[column] = i;
    } else if (const auto begin = begins.find(column); begin != begins.end() && i - begin->second + 1 > most) {
      out.push_back(begin->second);
    }
  }
  return out;
}

TEST(Limits, FunctionsFitAScreen) {
  std::set<std::string> found;
  for (const TextFile* file : files_below("src")) {
    if (!file->is_source()) continue;
    for (const std::size_t line : long_blocks(file->lines, kMostFunctionLines)) found.insert(file->where(line));
  }
  expect_none(found, "begins a function of more than " + std::to_string(kMostFunctionLines) + " lines: cut it");
}

TEST(Limits, LinesOfFunctionsAreCounted) {
  const std::vector<std::string> lines = {"struct S {",
                                          "  int f(",
                                          "      int x) {",
                                          "    if (x) {",
                                          "      return 1;",
                                          "    }",
                                          "    return 2;",
                                          "  }",
                                          "};",
                                          "void g() {",
                                          "}"};
  EXPECT_EQ(long_blocks(lines, 6), (std::vector<std::size_t>{1}));
  EXPECT_EQ(long_blocks(lines, 7), std::vector<std::size_t>());
}

TEST(Limits, MethodsAreCounted) {
  std::istringstream text(R"(
namespace a {
template <typename T>
class Some final : public Base<T, int> {
 public:
  Some(int a = f(), std::string b = "(") : a_{a}, b_(b) {}
  ~Some() override;
  int get() const { return a_ > 0 ? f(a_) : 0; }
  bool operator==(const Some&) const = default;
  static std::map<std::string, std::function<void(int)>> all();
  struct Inner {
    int x = f(1);
    void only();
  };
  using F = std::function<void(int)>;
  friend void other(Some&);
  void last() const;  // not this: void none();

 private:
  std::function<void(int)> f_;
  Part part_{*this, 1'000};
  int a_ = 1;
};
enum class Kind { kA, kB };
}  // namespace a
)");
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  std::map<std::string, std::size_t> methods;
  for (const ClassMethods& one : class_methods(lines)) methods[one.name] = one.methods;
  EXPECT_EQ(methods, (std::map<std::string, std::size_t>{{"Some", 6}, {"Inner", 1}}));
}

// The folder of src or src/embedded that a path below src or tests is in.
fs::path room_of(const fs::path& folder) {
  const std::vector<fs::path> parts(folder.begin(), folder.end());
  return parts.size() > 1 && parts[0] == "embedded" ? parts[0] / parts[1] : parts[0];
}

TEST(Limits, TestsLieWhereTheirSourcesLie) {
  std::map<std::string, std::set<std::string>> folders;  // of src, by the name of a file without extension
  std::set<std::string> all;
  for (const TextFile* file : files_below("src")) {
    const fs::path folder = fs::relative(file->path, "src").parent_path();
    folders[file->path.stem().string()].insert(folder.string());
    for (fs::path one = folder; !one.empty(); one = one.parent_path()) all.insert(one.string());
  }
  std::set<std::string> found;
  std::size_t tests = 0;
  constexpr std::string_view kEnding = "_test";
  for (const TextFile* file : files_below("tests")) {
    std::string name = file->path.stem().string();
    const bool several = std::ranges::any_of(kOfSeveralRooms, [&](auto& one) { return lies_in(file->path, one); });
    if (several || file->path.extension() != ".cpp" || !name.ends_with(kEnding)) continue;
    ++tests;
    name.resize(name.size() - kEnding.size());
    const fs::path folder = fs::relative(file->path, "tests").parent_path();
    std::set<std::string> sources;  // in the same room
    for (const std::string& one : folders[name]) {
      if (room_of(one) == room_of(folder)) sources.insert(one);
    }
    if (!all.contains(folder.string()) || (!sources.empty() && !sources.contains(folder.string())))
      found.insert(file->path.string());
  }
  EXPECT_GT(tests, 200u);
  expect_none(found, "lies in another folder than the source that it tests");
}

}  // namespace
}  // namespace berth::house::limits_test
