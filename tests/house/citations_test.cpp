// Comments and documents cite only files that exist, and no numbered sections of documents that readers do not have.
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "house/tree.h"
#include "source_dir.h"

namespace berth::house::citations_test {
namespace {

// Files of other projects, and files that commands in documents make.
const std::set<std::string> kOthers = {"boost/json/fwd.hpp", "boost/json/value.hpp", "etc/berth/controller.yaml"};

const std::string kThis = "tests/house/citations_test.cpp";  // has bad examples

// All paths of the repository and their endings: "base/json.h" and "json.h" name src/base/json.h.
std::set<std::string> names_of_files() {
  std::set<std::string> out;
  for (const TextFile& file : tree()) {
    const std::string path = file.path.string();
    out.insert(path);
    for (std::size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1))
      out.insert(path.substr(slash + 1));
  }
  return out;
}

std::string without_addresses(std::string text) {
  static const RE2 address(R"([A-Za-z+]+://\S+)");
  RE2::GlobalReplace(&text, address, "");
  return text;
}

// What looks like a file of a repository: any name of a source or a document, and manifests with their folder.
std::vector<std::string> files_named_in(const std::string& text) {
  static const RE2 name(
      R"(((?:[\w.-]+/)*[\w.-]*[\w-]\.(?:h|hpp|cpp|md|cmake|py|tsx?)|(?:[\w.-]+/)+[\w-]+\.ya?ml)(?:\W|$))");
  std::vector<std::string> out;
  const std::string plain = without_addresses(text);
  re2::StringPiece rest(plain);
  for (std::string found; RE2::FindAndConsume(&rest, name, &found);) {
    while (found.starts_with("./") || found.starts_with("../")) found.erase(0, found.find('/') + 1);
    out.push_back(found);
  }
  return out;
}

// A number of a section, which only a reader of that document understands. RFCs are public and keep their numbers.
bool cites_a_section(const std::string& text) {
  static const RE2 section(R"((?i)(\.md|\bspec|\bdesign|\bplan)\W{1,3}(section|chapter|§|#)\s*\d|§\s*\d)");
  return text.find("RFC") == text.npos && text.find("rfc") == text.npos && RE2::PartialMatch(text, section);
}

// The text of each line in which a citation counts.
template <typename Look>
void each_citing_line(Look look) {
  for (const TextFile& file : tree()) {
    const bool source = file.is_source(), document = file.path.extension() == ".md";
    if ((!source && !document) || lies_in(file.path, kThis)) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string text = source ? comment_of(file.lines[i]) : file.lines[i];
      if (!text.empty()) look(file.where(i), text);
    }
  }
}

TEST(Citations, FilesExist) {
  const std::set<std::string> names = names_of_files();
  std::size_t citations = 0;
  each_citing_line([&](const std::string& where, const std::string& text) {
    for (const std::string& name : files_named_in(text)) {
      ++citations;
      EXPECT_TRUE(names.contains(name) || kOthers.contains(name) || std::filesystem::exists(source_path(name)))
          << where << ": " << name << " is not in the repository: cite a public source, or state the rule";
    }
  });
  EXPECT_GT(citations, 300u);
}

TEST(Citations, NoSectionsOfDocumentsThatReadersDoNotHave) {
  each_citing_line([](const std::string& where, const std::string& text) {
    EXPECT_FALSE(cites_a_section(text)) << where << ": state the rule instead of the number of a section: " << text;
  });
}

TEST(Citations, AreFound) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(files_named_in("// see notes/plan.md and gone.h, (config/samples/none.yaml)."),
            (Names{"notes/plan.md", "gone.h", "config/samples/none.yaml"}));
  EXPECT_EQ(files_named_in("// https://example.com/a/b.md config.yaml a.b.c"), Names{});
  EXPECT_TRUE(cites_a_section("// As in plan.md, section 3.2."));
  EXPECT_TRUE(cites_a_section("// \xC2\xA7 4"));
  EXPECT_FALSE(cites_a_section("// RFC 9113, section 6.5"));
}

}  // namespace
}  // namespace berth::house::citations_test
