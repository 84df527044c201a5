// Comments cite only documents that exist, and use the field's words (docs/glossary.md, CONTRIBUTING.md).
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <string_view>

#include "source_dir.h"

namespace berth::house::words_test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = source_path("");

// Turns of phrase that need a second reading, as regular expressions without regard to case.
constexpr std::array kRiddles = {
    R"(\bwhoever\b)",  R"(\bspeaks? of\b)",   R"(\bof one that\b)", R"(\bnobody who\b)", R"(\bsomebody who\b)",
    R"(\blives on\b)", R"(\bwhat is over\b)", R"(\bwho waits\b)",   R"(\bof whom\b)",
};

// The comment of a line, "" when it has none. A string with "//" in it counts as one, which does no harm here.
std::string comment_of(const std::string& line) {
  const auto at = line.find("//");
  return at == std::string::npos ? "" : line.substr(at);
}

template <typename Look>
void each_comment(Look look) {
  for (const char* folder : {"src", "tests", "bench", "fuzz"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      const auto extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp") continue;
      std::ifstream in(entry.path());
      int number = 0;
      for (std::string line; std::getline(in, line);) {
        ++number;
        const std::string comment = comment_of(line);
        if (!comment.empty())
          look(entry.path(), fs::relative(entry.path(), kRoot).string() + ":" + std::to_string(number), comment);
      }
    }
  }
}

bool exists(const fs::path& citing, const std::string& document) {
  return fs::exists(kRoot / document) || fs::exists(kRoot / "docs" / document) ||
         fs::exists(citing.parent_path() / document);
}

TEST(Words, CitedDocumentsExist) {
  const std::regex document(R"([A-Za-z0-9_./-]+\.md\b)");
  each_comment([&](const fs::path& path, const std::string& where, const std::string& comment) {
    if (comment.find("://") != std::string::npos) return;  // a public document
    for (std::sregex_iterator it(comment.begin(), comment.end(), document), end; it != end; ++it)
      EXPECT_TRUE(exists(path, it->str()))
          << where << ": " << it->str() << " is not in the repository: cite a public source, or state the rule";
  });
}

TEST(Words, CommentsArePlain) {
  std::string all;
  for (const std::string_view riddle : kRiddles) all += (all.empty() ? "" : "|") + std::string(riddle);
  const std::regex riddles(all, std::regex::icase | std::regex::optimize);
  each_comment([&](const fs::path& path, const std::string& where, const std::string& comment) {
    std::smatch found;
    if (path.filename() != "words_test.cpp" && std::regex_search(comment, found, riddles))
      ADD_FAILURE() << where << ": \"" << found.str() << "\": name the thing, in subject, verb, object: " << comment;
  });
}

}  // namespace
}  // namespace berth::house::words_test
