// Comments cite only documents that exist, and use the field's words (docs/glossary.md, CONTRIBUTING.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "source_dir.h"

namespace berth::house::words_test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = source_path("");

// Turns of phrase that need a second reading, in lower case.
constexpr std::array<std::string_view, 10> kRiddles = {
    "whoever",      "speak of", "speaks of",    "of one that", "nobody who",
    "somebody who", "lives on", "what is over", "who waits",   "of whom",
};

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Whether the phrase stands in the text as whole words.
bool has_phrase(std::string_view text, std::string_view phrase) {
  for (std::size_t at = 0; (at = text.find(phrase, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + phrase.size();
    if ((at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end]))) return true;
  }
  return false;
}

// The names and paths that end with ".md".
std::vector<std::string> documents_in(const std::string& comment) {
  constexpr std::string_view kEnding = ".md";
  std::vector<std::string> found;
  for (std::size_t at = 0; (at = comment.find(kEnding, at)) != std::string::npos; at += kEnding.size()) {
    const std::size_t end = at + kEnding.size();
    if (end < comment.size() && in_word(comment[end])) continue;
    std::size_t begin = at;
    while (begin > 0 &&
           (in_word(comment[begin - 1]) || std::string_view("./-").find(comment[begin - 1]) != std::string_view::npos))
      --begin;
    if (begin < at) found.push_back(comment.substr(begin, end - begin));
  }
  return found;
}

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
  each_comment([&](const fs::path& path, const std::string& where, const std::string& comment) {
    if (comment.find("://") != std::string::npos) return;  // a public document
    for (const std::string& document : documents_in(comment))
      EXPECT_TRUE(exists(path, document))
          << where << ": " << document << " is not in the repository: cite a public source, or state the rule";
  });
}

TEST(Words, CommentsArePlain) {
  each_comment([&](const fs::path&, const std::string& where, std::string comment) {
    std::ranges::transform(comment, comment.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const std::string_view riddle : kRiddles)
      EXPECT_FALSE(has_phrase(comment, riddle))
          << where << ": \"" << riddle << "\": name the thing, in subject, verb, object: " << comment;
  });
}

}  // namespace
}  // namespace berth::house::words_test
