// The repository uses the words of Kubernetes and Kueue, in plain English.
#include "house/wording.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "house/tree.h"

namespace berth::house::wording_test {
namespace {

// The list itself has the words.
bool is_the_list(const TextFile& file) { return lies_in(file.path, "tests/house/wording.cpp"); }

bool right_in(const Wording& wording, const TextFile& file) {
  return std::ranges::any_of(wording.right_in, [&](const std::string& one) { return lies_in(file.path, one); });
}

TEST(Wording, IsPlain) {
  std::size_t lines = 0;
  for (const TextFile& file : tree()) {
    if (is_the_list(file)) continue;
    const bool cpp = file.path.extension() == ".h" || file.path.extension() == ".cpp";
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      ++lines;
      if (!may_have_any(file.lines[i])) continue;
      for (const Wording& wording : wordings()) {
        EXPECT_FALSE(has(wording, file.lines[i], cpp) && !right_in(wording, file))
            << file.where(i) << ": write " << wording.instead << "\n  " << file.lines[i];
      }
    }
  }
  EXPECT_GT(lines, 100'000u);
}

TEST(Wording, EachPatternFindsItsExample) {
  for (const Wording& wording : wordings()) {
    EXPECT_TRUE(has(wording, wording.example)) << wording.pattern;
    EXPECT_FALSE(has(wording, "// The controller writes the status of a Workload on each Node.")) << wording.pattern;
  }
}

TEST(Wording, AllowsOnlyWhatIsThere) {
  for (const Wording& wording : wordings()) {
    for (const std::string& allowed : wording.right_in) {
      const auto files = files_below(allowed);
      EXPECT_TRUE(std::ranges::any_of(files,
                                      [&](const TextFile* file) {
                                        return std::ranges::any_of(
                                            file->lines, [&](const std::string& line) { return has(wording, line); });
                                      }))
          << allowed << " no longer has " << wording.pattern << ": take it off the list";
    }
  }
}

}  // namespace
}  // namespace berth::house::wording_test
